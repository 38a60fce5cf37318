"""Clients that did not ask meet a kernel into which a profile has loaded us, and hear nothing of us."""

import pytest

from jupyter_mlgpu.record import origin

pytestmark = pytest.mark.kernel

CONFIGURATION = 'c.InteractiveShellApp.extensions = ["jupyter_mlgpu"]\n'
CONTROL = "jupyter.widget.control"
#: As if nobody had asked this kernel before.
FORGET = """
audience = get_ipython()._jupyter_mlgpu.audience
audience.output_requested = audience.known_to_a_client = False
"""


@pytest.fixture(scope="module")
def profile_kernel(start_for_module, tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    (folder / "profile_default").mkdir()
    (folder / "profile_default" / "ipython_config.py").write_text(CONFIGURATION)
    return start_for_module(extension=False, IPYTHONDIR=str(folder))


@pytest.fixture
def notebook(profile_kernel):
    """The kernel as the first test finds it; what is left in it is one record more."""
    profile_kernel.evaluate("None", prepare=FORGET)  # the kernels of tests are asked for all receipts
    profile_kernel.deltas()
    profile_kernel.broadcasts.clear()
    yield profile_kernel
    profile_kernel.evaluate("None", prepare=FORGET)


def records(notebook):
    return notebook.evaluate(
        "[one.cell.name for one in get_ipython()._jupyter_mlgpu.runtime.store.records()]"
    )


def test_a_client_of_a_kernel_with_our_profile_gets_no_receipt_and_hears_nothing(notebook):
    result = notebook.run("unasked = 1\nprint('mine')")
    assert [kind for kind, _ in result.outputs] == ["stream"]
    assert notebook.deltas() == []
    assert "print('mine')" in records(notebook)


def test_a_page_that_asks_is_told_what_was_before_and_hears_what_comes(notebook):
    notebook.run("before = 1")
    told = notebook.ask("jupyter_mlgpu_snapshot_request")
    assert [one["cell"]["name"] for one in told["records"]][-1] == "before = 1"
    assert notebook.run("after = 1").receipt["cell"]["name"] == "after = 1"
    deltas = notebook.deltas()
    assert [delta["prev"] for delta in deltas] == list(range(told["seq"], told["seq"] + len(deltas)))
    heard = [one for delta in deltas for one in delta["events"] if one["type"] == "record"]
    assert [one["record"]["cell"]["name"] for one in heard] == ["after = 1"]


@pytest.mark.parametrize("code", ["%load_ext jupyter_mlgpu", "%mlc_trace on"])
def test_a_cell_that_calls_us_has_receipts_in_every_client(notebook, code):
    assert notebook.run("x = 1").receipts == []
    notebook.run(code)
    assert notebook.run("x = 2").receipt["cell"]["name"] == "x = 2"


def test_a_cell_that_asks_for_a_profile_of_itself_gets_its_receipt(notebook):
    assert notebook.run("%%mlc_trace --ops\nx = 1").receipt["cell"]["name"] == "x = 1"


def test_who_asks_for_silence_gets_no_receipt_also_of_a_cell_inside(notebook):
    notebook.run("%load_ext jupyter_mlgpu")
    assert notebook.run("get_ipython().run_cell('x = 1')").receipts
    assert notebook.run("get_ipython().run_cell('x = 1')", silent=True).receipts == []


def test_jupyter_mlgpu_run_asks_also_where_a_profile_has_loaded_us(notebook):
    notebook.evaluate(
        "headless.begin(get_ipython(), None)", prepare="from jupyter_mlgpu.jupyter.notebook import headless"
    )
    assert notebook.run("x = 1").receipts


def send(notebook, kind, content, **metadata):
    notebook.client.shell_channel.send(notebook.client.session.msg(kind, content, metadata=metadata))


def test_a_page_that_is_loaded_and_asks_for_widgets_leaves_no_line_in_the_last_cell(notebook):
    notebook.run("%load_ext jupyter_mlgpu")
    notebook.open_page()
    notebook.run("quiet = 1")
    assert notebook.evaluate("'ipywidgets' in sys.modules", prepare="import sys") is False
    # What JupyterLab's manager of widgets does with every kernel at each load of the page.
    send(notebook, "comm_open", {"comm_id": "page", "target_name": CONTROL, "data": {}}, version="1.0.0")
    send(notebook, "comm_msg", {"comm_id": "page", "data": {"method": "request_states"}})
    answer = notebook.hear_until(lambda message: message["content"].get("comm_id") == "page")
    assert answer["content"]["data"] == {"method": "update_states", "states": {}, "buffer_paths": []}
    send(notebook, "comm_close", {"comm_id": "page", "data": {}})
    assert lines_until_another_comm_is_missed(notebook) == []


def lines_until_another_comm_is_missed(notebook):
    """What the last record was told late, up to a line that is wanted: a comm that is really missing."""
    send(notebook, "comm_msg", {"comm_id": "nowhere", "data": {}})
    notebook.hear_until(
        lambda message: message["msg_type"] == "comm_msg" and "comm: nowhere" in str(message["content"])
    )
    *others, wanted = notebook.ask("jupyter_mlgpu_snapshot_request")["records"][-1]["logs"]
    assert (wanted["text"], wanted["count"]) == ("WARNING:Comm:No such comm: nowhere", 1)
    return others


def test_a_page_that_is_loaded_while_a_cell_runs_leaves_no_line_in_it(notebook, gate):
    notebook.run("%load_ext jupyter_mlgpu")
    notebook.open_page()
    cell = notebook.send(gate.cell)
    notebook.hear_until(lambda message: "'running'" in str(message["content"]))
    send(notebook, "comm_open", {"comm_id": "page", "target_name": CONTROL, "data": {}}, version="1.0.0")
    send(notebook, "comm_msg", {"comm_id": "page", "data": {"method": "request_states"}})
    send(notebook, "comm_close", {"comm_id": "page", "data": {}})
    notebook.ask("jupyter_mlgpu_snapshot_request")
    gate.open()
    result = notebook.wait(cell)
    assert (result.text, result.receipt["logs"]) == ("", [])
    assert lines_until_another_comm_is_missed(notebook) == []


def test_ipywidgets_answers_itself_once_it_is_imported(start_kernel):
    notebook = start_kernel()
    answers = f"get_ipython().kernel.comm_manager.targets[{CONTROL!r}].__module__"
    assert notebook.evaluate(answers) == "jupyter_mlgpu.jupyter.notebook.browser.widget_pages"
    assert notebook.evaluate(answers, prepare="import ipywidgets") == "ipywidgets.widgets.widget"
    notebook.run("%unload_ext jupyter_mlgpu")
    assert notebook.evaluate(answers) == "ipywidgets.widgets.widget"


def test_a_kernel_of_a_server_says_that_no_sidebar_has_asked_until_one_has(reload_kernel):
    notebook = reload_kernel(JPY_SESSION_NAME="/home/ada/lesson.ipynb")
    notebook.evaluate("None", prepare=FORGET)
    missing = "So far no page with the sidebar has asked this kernel."
    said = notebook.run("%mlc_trace status").text
    assert missing in said
    assert f"`{origin.install_line()}` in the environment that JupyterLab runs in" in said
    notebook.open_page()
    assert missing not in notebook.run("%mlc_trace status").text


def test_a_kernel_that_no_server_started_looks_for_no_page(reload_kernel):
    assert "sidebar" not in reload_kernel().run("%mlc_trace status").text
