"""What a browser hears and what it is told when it asks, also while a cell runs."""

import json

import pytest

pytestmark = pytest.mark.kernel


def events(notebook, kind):
    return [event for delta in notebook.deltas() for event in delta["events"] if event["type"] == kind]


@pytest.fixture
def notebook(reload_kernel):
    return reload_kernel()


def test_the_extension_is_announced_among_the_comms(notebook):
    comms = notebook.ask("comm_info_request", {"target_name": "jupyter_mlgpu"})["comms"]
    assert comms == {"jupyter_mlgpu": {"target_name": "jupyter_mlgpu"}}
    notebook.run("%unload_ext jupyter_mlgpu")
    assert notebook.ask("comm_info_request", {"target_name": "jupyter_mlgpu"})["comms"] == {}


def test_loading_says_hello_and_unloading_says_goodbye(notebook):
    assert len(events(notebook, "hello")) == 1
    notebook.run("%unload_ext jupyter_mlgpu")
    assert len(events(notebook, "goodbye")) == 1


def test_nothing_is_said_after_the_goodbye_also_not_by_a_task_that_comes_late(notebook):
    notebook.run(
        """from jupyter_mlgpu.jupyter.notebook.extension import loaded_in
extension = loaded_in(get_ipython())
extension.updates._devices_sent = None
extension.updates.devices()"""
    )
    assert events(notebook, "device")
    notebook.run(
        "%unload_ext jupyter_mlgpu\nextension.updates._devices_sent = None\nextension.updates.devices()"
    )
    notebook.run("import time; time.sleep(0.2)")
    assert [event["type"] for delta in notebook.deltas() for event in delta["events"]][-1] == "goodbye"


def test_a_running_cell_and_its_record_are_broadcast(notebook):
    result = notebook.run("x = 1")
    (running,) = events(notebook, "running")
    (record,) = events(notebook, "record")
    assert record["record"]["cell"] == result.receipt["cell"]
    # The number a cell will show is certain only at its end.
    assert running["cell"] == {**result.receipt["cell"], "execution_count": None}
    # A receipt leaves out what only a comparison of several runs needs.
    receipt = result.receipt["readings"]
    assert [one for one in record["record"]["readings"] if one in receipt] == receipt


def tells_of(name):
    """Whether a message tells the page of a running cell with a title that begins so."""
    return lambda message: (
        message["msg_type"] == "comm_msg"
        and any(
            event["type"] == "running" and event["cell"]["name"].startswith(name)
            for event in message["content"]["data"].get("events", ())
        )
    )


def test_the_broadcast_arrives_while_the_cell_runs(notebook, gate):
    message = notebook.send(gate.cell)
    notebook.hear_until(tells_of("while not pathlib.Path"))
    gate.open()
    assert notebook.wait(message).status == "ok"


def test_a_snapshot_is_answered_while_a_cell_runs(notebook, gate):
    notebook.run("first = 1")
    message = notebook.send(gate.cell)
    notebook.hear_until(tells_of("while not pathlib.Path"))
    first, second = (notebook.ask("jupyter_mlgpu_snapshot_request") for _ in range(2))
    assert first["status"] == "ok"
    assert first["running"]["cell"]["name"].startswith("while not pathlib.Path")
    assert 0 < first["running"]["elapsed_s"] < second["running"]["elapsed_s"]
    assert [record["cell"]["name"] for record in first["records"]] == ["first = 1"]
    gate.open()
    assert notebook.wait(message).status == "ok"
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["running"] is None


def test_deltas_are_numbered_without_gaps_and_the_snapshot_knows_the_last_number(notebook):
    for number in range(5):
        notebook.run(f"x = {number}")
    deltas = notebook.deltas()
    assert [delta["seq"] for delta in deltas] == list(range(1, len(deltas) + 1))
    assert [delta["prev"] for delta in deltas] == list(range(len(deltas)))
    assert len({delta["run"] for delta in deltas}) == 1
    snapshot = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert (snapshot["seq"], snapshot["run"]) == (deltas[-1]["seq"], deltas[-1]["run"])


def test_many_quick_cells_are_sent_together_and_none_is_lost(notebook):
    notebook.run(
        "channel = get_ipython()._jupyter_mlgpu.channel\n"
        "for number in range(1000): channel.push({'type': 'test', 'number': number})"
    )
    deltas = [d for d in notebook.deltas() if any(e["type"] == "test" for e in d["events"])]
    numbers = [e["number"] for d in deltas for e in d["events"] if e["type"] == "test"]
    assert numbers == list(range(1000))
    assert len(deltas) <= 5


def test_broadcasts_answer_a_request_that_no_client_has_sent_so_that_outputs_stay_the_users_own(notebook):
    notebook.run("print('mine')")
    notebook.deltas()
    ours = [m["parent_header"] for m in notebook.broadcasts if m["msg_type"] == "comm_msg"]
    assert ours
    assert {parent["msg_type"] for parent in ours} == {"jupyter_mlgpu_request"}
    assert len({parent["msg_id"] for parent in ours}) == 1
    assert notebook.client.session.session not in {parent["session"] for parent in ours}


def test_device_and_tracing_are_broadcast_when_they_change(notebook):
    notebook.run("%mlc_trace off")
    notebook.run("%mlc_device cpu")
    assert events(notebook, "trace") == [{"type": "trace", "on": False}]
    (device,) = events(notebook, "device")
    assert device["device"]["requested"] == {"*": "cpu"}
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["tracing"] is False


def test_a_page_tells_the_language_of_its_notebook_when_it_asks(start_kernel):
    notebook = start_kernel()
    notebook.ask("jupyter_mlgpu_snapshot_request", {"language": "zh"})
    _, (_, shown) = notebook.run("1 / 0").outputs
    assert "出错" in shown["text/plain"]
    assert "出错" in shown["text/html"]
    assert notebook.run("%mlc_trace status").text.startswith("跟踪已打开")


def test_a_new_kernel_process_is_a_new_run(start_kernel):
    runs = {start_kernel().ask("jupyter_mlgpu_snapshot_request")["run"] for _ in range(2)}
    assert len(runs) == 2


def test_prints_of_the_users_threads_stay_in_their_cell_while_the_browser_asks(notebook):
    message = notebook.send(
        "import threading, time\n"
        "def talk():\n"
        "    for number in range(20):\n"
        "        print(number); time.sleep(0.02)\n"
        "thread = threading.Thread(target=talk)\n"
        "thread.start(); thread.join()"
    )
    for _ in range(5):
        notebook.ask("jupyter_mlgpu_snapshot_request")
    assert notebook.wait(message).text.split() == [str(number) for number in range(20)]


def test_many_records_are_sent_in_messages_of_a_bounded_size(notebook):
    notebook.run(
        "from jupyter_mlgpu.measure.runtime import current\n"
        "from jupyter_mlgpu.testing import example_record\n"
        "for number in range(1000): current().store.add(example_record(number))"
    )
    assert len(notebook.ask("jupyter_mlgpu_snapshot_request")["records"]) < 200
    seen = []
    while len(seen) < 1000:
        deltas = notebook.deltas()
        assert all(len(json.dumps(delta)) < 250_000 for delta in deltas)
        assert [delta["prev"] for delta in deltas] == [delta["seq"] - 1 for delta in deltas]
        seen = [
            event["place"] for event in events(notebook, "record") if event["record"]["run"]["id"] == "0" * 32
        ]
    assert seen == list(range(1000))


def test_the_doctor_is_asked_while_a_cell_runs_and_tells_all_browsers(start_kernel, tmp_path):
    (tmp_path / "pandas.py").write_text("")
    notebook = start_kernel()
    notebook.run(f"import os\nos.chdir({str(tmp_path)!r})")
    message = notebook.send(
        "import pathlib, time\nwhile not pathlib.Path('heard').exists():\n    time.sleep(0.05)"
    )
    assert notebook.ask("jupyter_mlgpu_request", {"type": "doctor"})["doctor"]["asking"] is True
    while not (told := [one["doctor"] for one in events(notebook, "doctor") if not one["doctor"]["asking"]]):
        notebook.broadcasts.append(notebook.client.get_iopub_msg(timeout=60))
    (tmp_path / "heard").touch()
    assert notebook.wait(message).status == "ok"
    (diagnosis,) = told
    assert diagnosis["problem"] is None
    assert "shadowed-package" in [one["id"] for one in diagnosis["found"]["findings"]]
    assert notebook.ask("jupyter_mlgpu_snapshot_request")["doctor"] == diagnosis
