"""Native lines of a command of ours stand under that command, however tracing was started."""

import pytest

pytestmark = pytest.mark.kernel

USERS = {"PYTEST_CURRENT_TEST": None}


def by_a_cell(notebook):
    notebook.run("%load_ext jupyter_mlgpu")


def by_the_button(notebook):
    notebook.evaluate("1", prepare="%load_ext jupyter_mlgpu")


def by_switching_on(notebook):
    notebook.run("%load_ext jupyter_mlgpu\n%mlc_trace off")
    notebook.run("%mlc_trace on")


@pytest.mark.needs("tensorflow")
@pytest.mark.parametrize("start", [by_a_cell, by_the_button, by_switching_on])
def test_what_tensorflow_says_when_a_command_imports_it_is_the_commands(start_kernel, start):
    notebook = start_kernel(extension=False, **USERS)
    start(notebook)
    cell = notebook.send("1 + 1")
    assert notebook.wait(cell).receipt["logs"] == []
    assert "tensorflow" in notebook.run("%mlc_device list").text.lower()
    notebook.run("2 + 2")
    late = [one for one in notebook.broadcasts if one["parent_header"].get("msg_id") == cell]
    assert [one["msg_type"] for one in late if one["msg_type"] == "stream"] == []
    records = notebook.ask("jupyter_mlgpu_snapshot_request")["records"]
    assert [len(one["logs"]) for one in records] == [0, 0]
