"""`%%mlc_race` in a real kernel: on TensorFlow's two logical CPUs, and in fresh processes."""

import json
import re
import time

import pytest

from jupyter_mlgpu.experiment.race.result import RaceResult
from jupyter_mlgpu.show.page.view import MIME_TYPE

pytestmark = pytest.mark.kernel


# For fresh processes: what makes a second CPU device there.
TWO_CPUS = (
    "import tensorflow as tf\n"
    "tf.config.set_logical_device_configuration(\n"
    "    tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 2)\n"
)


@pytest.fixture
def race(two_cpus):
    """Runs a race in the kernel with two devices; `said` is the table and the notes as text."""

    def run(line, cell, timeout=120):
        result = two_cpus.run(f"%%mlc_race {line}\n{cell}", timeout=timeout)
        tables = [data["text/plain"] for kind, data in result.outputs if kind == "execute_result"]
        tables += [
            data["text/plain"]
            for kind, data in result.outputs
            if kind == "display_data" and "after warm-up" in data["text/plain"]
        ]
        result.said = tables[0] if tables else ""
        return result

    return run


def last(two_cpus, tmp_path):
    """The result that the notebook has in `_`."""
    saved = two_cpus.run(f"_.save({str(tmp_path / 'last.json')!r})", silent=True)
    assert saved.status == "ok", saved
    return RaceResult.from_json(json.loads((tmp_path / "last.json").read_text()))


def messages(notebook, code):
    """All that a cell sent, as it was sent."""
    message, sent = notebook.send(code), []
    while True:
        found = notebook.client.get_iopub_msg(timeout=60)
        if found["parent_header"].get("msg_id") == message:
            sent.append((found["msg_type"], found["content"]))
            if found["msg_type"] == "status" and found["content"]["execution_state"] == "idle":
                return sent


def test_a_race_over_sizes_shows_a_chart_a_table_and_keeps_the_result(two_cpus, race, tmp_path):
    shown = race(f"--over n=10,200 --repeats 6 --save {tmp_path}/race.json", "x = tf.ones((n, n))\nx @ x")
    assert shown.status == "ok"
    (whole,) = [data for kind, data in shown.outputs if MIME_TYPE in data]
    assert "data:image/svg+xml" in whole["text/html"]
    (drawn,) = whole[MIME_TYPE]["charts"]
    assert [one["name"] for one in drawn["series"]] == ["cpu:0", "cpu:1"]
    assert [[point[0] for point in one["points"]] for one in drawn["series"]] == [[10, 200]] * 2
    assert "nothing is restored" in shown.said
    result = RaceResult.from_json(json.loads((tmp_path / "race.json").read_text()))
    assert [lane.device for lane in result.lanes] == ["cpu:0", "cpu:1"]
    assert [(one.size, len(one.samples)) for lane in result.lanes for one in lane.timings] == [
        (10, 6),
        (200, 6),
    ] * 2
    assert all(sample > 0 for lane in result.lanes for one in lane.timings for sample in one.samples)
    assert (result.framework, result.variable, result.outcome, result.fresh) == (
        "tensorflow",
        "n",
        "ok",
        False,
    )
    assert (tmp_path / "race.svg").read_text().startswith("<svg")
    assert last(two_cpus, tmp_path) == result


def test_each_lane_runs_on_its_device(two_cpus, race):
    two_cpus.run("places = set()")
    shown = race("--repeats 2", "y = tf.ones((2, 2)) + 1\nplaces.add(y.device[-5:])")
    assert shown.status == "ok"
    assert two_cpus.run("print(sorted(places), (tf.ones(1) + 1).device[-5:])").text == (
        "['CPU:0', 'CPU:1'] CPU:0\n"
    )
    assert "objects created on another device" not in shown.said


def test_work_that_stays_on_another_device_is_said(race):
    shown = race("--repeats 2", "with tf.device('/CPU:0'):\n    y = tf.ones((2, 2)) + 1")
    assert "cpu:1: the work ran on cpu:0 instead" in shown.said


def test_code_without_an_operation_of_the_framework_is_no_race_of_its_devices(race):
    shown = race("--repeats 2", "sum(range(1000))")
    assert "This code ran no operation of TensorFlow, so no device was chosen for it." in shown.said
    assert "with TensorFlow" not in shown.said


def test_the_receipt_says_that_it_was_a_race(race):
    shown = race("--repeats 2", "tf.ones(3)")
    assert shown.receipt["cell"]["name"] == "race: tf.ones(3)"
    assert shown.receipt["notes"] == ["This cell is a race: its time covers all runs together."]
    below = race("--repeats 2", "1").receipt
    assert below["notes"] == shown.receipt["notes"]


def test_the_receipt_tells_on_which_devices_the_race_ran_as_far_as_it_was_watched(race):
    alone = race("--repeats 2 --devices cpu:0", "tf.ones(3) + 1").receipt["device"]["ran_on"]
    both = race("--repeats 2", "tf.ones(3) + 1").receipt["device"]["ran_on"]
    assert [one["device"] for one in alone] == ["cpu:0"]
    assert [one["device"] for one in both] == ["cpu:0", "cpu:1"]
    assert {one["operations"] for one in both} == {None}
    assert all("only the first run on each device is monitored" in one["why_missing"] for one in both)


def test_a_race_that_is_refused_is_no_race_and_where_its_words_are_there_is_no_record(race):
    assert race("--ovr n=1", "1").receipts == []
    later = race("--framework caffe", "1")
    assert later.status == "error"
    assert later.receipt["notes"] == []
    assert race("--repeats $count", "1").receipts != []


def test_watching_adds_nothing_to_the_times_of_a_race(two_cpus, race):
    """TensorFlow's callbacks take 5 us an operation: they are there in the first run, and then no more."""
    two_cpus.run("from tensorflow.python.eager import context\nwatched = []")
    shown = race("--repeats 3 --devices cpu:0", "watched.append(len(context.context().op_callbacks))")
    first, *rest = json.loads(two_cpus.run("print(watched)").text)
    assert first == 1
    assert len(rest) >= 4
    assert set(rest) == {0}
    assert [(one["device"], one["operations"]) for one in shown.receipt["device"]["ran_on"] or ()] == []
    after = two_cpus.run("y = tf.ones((2, 2)) + 1")
    assert set(after.ran_on) == {"cpu:0"}


def test_a_race_under_another_first_line_is_a_race_too(two_cpus):
    shown = two_cpus.run("%%mlc_trace\n%%mlc_race --repeats 2\n1")
    assert shown.receipt["cell"]["name"] == "race: 1"
    under = two_cpus.run("%%mlc_device cpu:1\n%%mlc_race --repeats 2\nprint((tf.ones(1) + 1).device[-5:])")
    assert under.receipt["notes"] == shown.receipt["notes"]
    assert under.receipt["device"]["requested"] == {"*": "cpu:1"}
    assert [line for line in under.text.splitlines() if line.startswith("CPU")] == ["CPU:0", "CPU:1"]


def test_the_users_variable_is_put_back(two_cpus, race):
    two_cpus.run("n = 'mine'")
    race("--over n=1,2 --repeats 2", "n = n + 1")
    assert two_cpus.run("print(n)").text == "mine\n"
    race("--over unknown=1,2 --repeats 2", "unknown")
    assert two_cpus.run("print('unknown' in globals())").text == "False\n"
    race("--over n=1,2 --repeats 2", "1 / (n - 2)")
    assert two_cpus.run("print(n)").text == "mine\n"


def test_only_the_first_run_of_each_device_is_heard(race):
    shown = race("--over n=1,2 --repeats 3", "print('run at', n)")
    assert shown.text == "run at 1\n" * 2


def test_a_cell_that_raises_shows_its_own_traceback_and_keeps_what_was_measured(two_cpus, race):
    shown = race("--over n=1,2 --repeats 3", "def f(n):\n    print('n is', n)\n    return 1 / (n - 2)\nf(n)")
    assert shown.status == "error"
    assert shown.error == "ZeroDivisionError: division by zero"
    assert shown.said.startswith("Ended by an error: ")
    assert "cpu:0: ended by ZeroDivisionError." in shown.said
    assert shown.text == "n is 1\nn is 2\n"  # the run that failed is heard, too
    assert two_cpus.run("print('still here')").text == "still here\n"


def test_a_traceback_has_the_users_frames_and_none_of_ours(two_cpus):
    sent = messages(two_cpus, "%%mlc_race\ndef f(n):\n    return 1 / (n - 2)\nf(2)")
    (error,) = [content for kind, content in sent if kind == "error"]
    text = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert "return 1 / (n - 2)" in text
    assert "----> 3 f(2)" in text
    assert "jupyter_mlgpu" not in text


def test_a_cell_that_raises_at_once_shows_nothing_but_its_error(race):
    shown = race("", "1 / 0")
    assert [kind for kind, data in shown.outputs if kind != "display_data" or data["text/plain"]] == [
        "error",
        "display_data",
    ]
    assert len(shown.receipts) == 1


def test_a_syntax_error_is_the_cells_own(race):
    assert race("", "x = (").error.startswith("SyntaxError")


def test_an_interrupt_keeps_what_was_measured_and_goes_on(two_cpus, tmp_path):
    flag = tmp_path / "sleeping"
    message = two_cpus.send(
        "%%mlc_race --over n=1,2 --repeats 3\n"
        "import pathlib, time\n"
        f"if n == 2:\n    pathlib.Path({str(flag)!r}).touch()\n    time.sleep(600)"
    )
    deadline = time.monotonic() + 60
    while not flag.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    two_cpus.manager.interrupt_kernel()
    result = two_cpus.wait(message)
    assert result.status == "error"
    assert result.error.startswith("KeyboardInterrupt")
    said = "".join(str(data.get("text/plain")) for kind, data in result.outputs if kind == "display_data")
    assert "Interrupted: " in said
    assert "cpu:0: interrupted." in said
    assert result.receipt["outcome"] == "interrupted"
    after = two_cpus.run("import signal\nprint(signal.getsignal(signal.SIGINT).__name__)\ntf.ones(1).device")
    assert after.text == "default_int_handler\n"


def test_an_interrupt_between_two_runs_leaves_output_and_devices_as_they_were(two_cpus, tmp_path):
    """Runs of a microsecond: the interrupt most likely comes while a stream or a device is being changed."""
    state = (
        "import signal, sys\n"
        "print(type(sys.stdout), sys.displayhook, signal.getsignal(signal.SIGINT))\n"
        "print(get_ipython().display_pub)\n"
        "print((tf.ones((2, 2)) + 1).device)"
    )
    before = two_cpus.run(state)
    for number in range(3):
        flag = tmp_path / f"racing-{number}"
        two_cpus.run(f"import pathlib\nflag = pathlib.Path({str(flag)!r})")
        sizes = ",".join(map(str, range(1, 31)))
        message = two_cpus.send(f"%%mlc_race --over n={sizes} --repeats 9999\nn == 1 or flag.touch()")
        deadline = time.monotonic() + 60
        while not flag.exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        two_cpus.manager.interrupt_kernel()
        result = two_cpus.wait(message)
        assert result.error.startswith("KeyboardInterrupt")
        after = two_cpus.run(state)
        assert after.text == before.text
        assert after.ran_on == before.ran_on


def test_setup_runs_once_on_each_device_before_its_runs(two_cpus, race):
    two_cpus.run("made = []\ncode = 'w = tf.ones((2, 2)) + 0\\nmade.append(w.device[-5:])'")
    shown = race("--repeats 2 --setup code", "w + w")
    assert shown.status == "ok"
    assert two_cpus.run("print(made)").text == "['CPU:0', 'CPU:1']\n"
    two_cpus.run("made = []")
    cell = two_cpus.run("w = tf.ones((2, 2)) + 0").execution_count
    assert race(f"--repeats 2 --setup {cell}", "made.append(w.device[-5:])").status == "ok"
    assert two_cpus.run("print(sorted(set(made)))").text == "['CPU:0', 'CPU:1']\n"


@pytest.mark.parametrize(
    ("line", "cell", "words"),
    [
        ("--devices cpu,gpu", "1", "There is no device gpu:0 here: found cpu:0, cpu:1."),
        ("--devices tpu", "1", "Unknown device 'tpu'"),
        ("--framework caffe", "1", "Unknown framework 'caffe' after --framework. Choose tensorflow"),
        ("--over n=", "1", "found ''"),
        ("--bogus", "1", "Unknown word '--bogus'"),
        ("--setup nothing", "1", "found 'nothing', which is not defined"),
        ("--setup tf", "1", "found 'tf', which is of type module"),
        ("--setup 99999", "1", "no cell was run as In [99999] before this one"),
        ("", "await f()", "await"),
        ("--fresh", "!ls", "which does not work in a fresh process"),
    ],
)
def test_what_is_wrong_is_one_sentence_and_nothing_is_run(race, line, cell, words):
    shown = race(line, cell)
    assert shown.status == "error"
    assert words in shown.text
    assert "Traceback" not in shown.text
    assert len(shown.text.strip().splitlines()) == 1
    assert shown.said == ""


def test_one_device_runs_alone_and_the_reason_is_told(race):
    shown = race("--devices cpu:1 --repeats 2", "tf.ones(2) + 1")
    assert "No race: only cpu:1 was requested." in shown.said
    assert "cpu:0" not in shown.said


def test_a_file_that_cannot_be_written_does_not_cost_the_result(race):
    shown = race("--repeats 2 --save /proc/nowhere/race.json", "1")
    assert shown.status == "ok"
    assert "The race was not saved" in shown.text
    assert "after warm-up" in shown.said


@pytest.mark.slow
def test_a_long_race_tells_how_far_it_is_and_takes_the_line_away(two_cpus):
    sent = messages(two_cpus, "%%mlc_race --repeats 5\nimport time\ntime.sleep(0.3)")
    displays = [content["data"]["text/plain"] for kind, content in sent if kind == "display_data"]
    shown = [content["data"]["text/plain"] for kind, content in sent if kind == "update_display_data"]
    assert displays[0] == ""  # the same in a saved notebook, however fast the machine is
    assert len(shown) >= 2
    assert shown[-1] == ""
    assert all(one.startswith("Race: cpu:") for one in shown[:-1])


def test_the_help_has_the_classic_experiment(two_cpus):
    shown = two_cpus.run("print(get_ipython().find_cell_magic('mlc_race').__doc__)").text
    assert "n=1e2,1e3,1e4,1e5,1e6,1e7,1e8 --repeats 10" in shown


def test_no_framework_is_one_sentence(plain):
    shown = plain.run("%%mlc_race\n1")
    assert "No framework is imported yet" in shown.text
    assert len(shown.text.strip().splitlines()) == 1


@pytest.mark.slow
def test_fresh_processes_are_set_up_each_on_its_device_and_know_nothing_else(two_cpus, race, tmp_path):
    two_cpus.run("tf.ones(1)")  # its devices are known once TensorFlow has started
    two_cpus.run(f"setup = '''{TWO_CPUS}print('set up', flush=True)\n'''\nn = 'mine'")
    line = f"--fresh --setup setup --over n=4,8 --repeats 6 --save {tmp_path}/race.json"
    shown = race(line, "x = tf.ones((n, n))\nprint(x.device[-5:], 'n' in dir(), 'places' in dir())", 300)
    assert shown.status == "ok"
    assert shown.text.splitlines()[:-1] == ["set up", "CPU:0 True False", "set up", "CPU:1 True False"]
    result = RaceResult.from_json(json.loads((tmp_path / "race.json").read_text()))
    assert [(lane.device, [one.size for one in lane.timings]) for lane in result.lanes] == [
        ("cpu:0", [4, 8]),
        ("cpu:1", [4, 8]),
    ]
    assert result.fresh
    assert "tensorflow" in result.versions
    assert "Each device had its own process," in shown.said
    assert "cpu:1: this device was not available yet when the framework was imported" in shown.said
    assert two_cpus.run("print(n)").text == "mine\n"


@pytest.mark.slow
def test_an_error_in_a_fresh_process_shows_its_traceback_there(race):
    shown = race("--fresh --devices cpu:0 --repeats 2", "def f():\n    return no_such_name\nf()", 300)
    assert shown.status == "error"
    assert 'File "<cell>", line 2, in f' in shown.text
    assert "runner.py" not in shown.text
    assert "the code ended with NameError" in shown.text
    assert "--setup" in shown.text
