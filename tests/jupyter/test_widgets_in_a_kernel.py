"""The controls for other notebooks in a real kernel: made, told, clicked, and never in the way of a cell."""

import pytest

pytestmark = pytest.mark.kernel

CONTROLS = "import jupyter_mlgpu\npicker, view = jupyter_mlgpu.DevicePicker(), jupyter_mlgpu.TraceView()"
VIEW_TYPE = "application/vnd.jupyter.widget-view+json"


def send(notebook, control, **data):
    """Send what a control's page sends; the kernel takes it in before the next cell."""
    model = notebook.models[control]
    message = notebook.client.session.msg("comm_msg", {"comm_id": model, "data": data})
    notebook.client.shell_channel.send(message)


def click(notebook, content):
    """What the page sends when a device is clicked, or anything else in its place."""
    send(notebook, "picker", method="custom", content=content)


@pytest.fixture
def notebook(reload_kernel):
    notebook = reload_kernel()
    assert notebook.run(CONTROLS).status == "ok"
    ids = notebook.run("print(picker.model_id, view.model_id)").text.split()
    notebook.models = dict(zip(("picker", "view"), ids, strict=True))
    return notebook


def test_loading_the_extension_and_running_cells_imports_no_widgets(start_kernel):
    notebook = start_kernel()
    notebook.run("a = 1")
    said = notebook.run("import sys\nprint(sorted({'anywidget', 'ipywidgets'} & set(sys.modules)))")
    assert said.text == "[]\n"


def test_a_control_is_shown_as_a_widget_with_words_for_those_who_show_none(notebook):
    shown = next(data for kind, data in notebook.run("picker").outputs if kind == "execute_result")
    assert VIEW_TYPE in shown
    assert shown["text/plain"] == "DevicePicker: shown while the notebook has its kernel."


def test_without_the_extension_one_sentence_says_what_to_do(start_kernel):
    notebook = start_kernel(extension=False)
    failed = notebook.run("import jupyter_mlgpu\njupyter_mlgpu.TraceView()")
    assert "run `%load_ext jupyter_mlgpu` in a cell, then run this cell again." in failed.error


def test_a_click_chooses_the_device_of_the_next_cell(notebook):
    click(notebook, {"word": "cpu", "framework": None})
    assert "Requested device: cpu." in notebook.run("%mlc_device").text
    said = notebook.run("print(picker.heard, picker.device['requested'])")
    assert said.text == "1 {'*': 'cpu'}\n"


def test_a_click_while_a_cell_runs_waits_for_its_end(notebook):
    running = notebook.send("import time\ntime.sleep(1)\nprint(picker.device['requested'], picker.heard)")
    click(notebook, {"word": "cpu", "framework": None})
    assert notebook.wait(running).text == "{} 0\n"
    assert "Requested device: cpu." in notebook.run("%mlc_device").text


@pytest.mark.parametrize("content", [None, [], {"word": 7}, {"word": "gpu", "framework": {}}, "x" * 100_000])
def test_a_page_that_sends_rubbish_disturbs_no_cell(notebook, content):
    click(notebook, content)
    ran = notebook.run("print('my output')")
    assert ran.status == "ok"
    assert ran.text == "my output\n"
    assert len(ran.receipts) == 1


def test_a_page_may_set_what_only_the_kernel_should_and_the_next_record_mends_it(notebook):
    send(notebook, "view", method="update", state={"newest": ["rubbish"], "older": 7}, buffer_paths=[])
    notebook.run("a = 1")
    notebook.run("import time\ntime.sleep(0.3)")
    names = notebook.run("print([one['cell']['name'] for one in view.newest][-2:], view.older)")
    assert names.text == "['a = 1', 'time.sleep(0.3)'] 0\n"


def test_a_cell_s_record_and_that_of_a_block_in_it_reach_the_view(notebook):
    newest = "print(view.newest[-1]['cell']['name'])"
    said = notebook.run(f"with jupyter_mlgpu.trace('a block'):\n    pass\n{newest}")
    assert said.text == "a block\n"
    said = notebook.run(newest)
    assert said.text == newest + "\n"


def test_a_cell_that_fails_is_shown_as_such(notebook):
    assert notebook.run("1 / 0").error == "ZeroDivisionError: division by zero"
    said = notebook.run("print([one['outcome'] for one in view.newest])")
    assert said.text == "['ok', 'ok', 'error']\n"


def test_after_unloading_nothing_of_the_controls_stays_in_the_shell(notebook):
    before = "from IPython import get_ipython\nevents = get_ipython().events.callbacks\n"
    notebook.run("%unload_ext jupyter_mlgpu")
    said = notebook.run(
        before + "print(picker.ended, view.ended)\n"
        "print([one for ones in events.values() for one in ones if 'mlgpu' in str(one)])"
    )
    assert said.text == "True True\n[]\n"
    assert notebook.run("%load_ext jupyter_mlgpu").status == "ok"
    assert notebook.run("print(jupyter_mlgpu.DevicePicker() is picker)").text == "False\n"
