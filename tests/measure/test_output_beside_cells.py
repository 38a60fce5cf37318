"""What runs between two cells, a widget's callback or a silent request, prints as it does without us."""

import pytest

pytestmark = pytest.mark.kernel

#: pytest's own variable keeps ipykernel from capturing the descriptors, as it does for users.
USERS = {"PYTEST_CURRENT_TEST": None}
WRITES = "print('one', flush=True); _ = os.system('echo native'); print('two')"


def said_to(notebook, message):
    """What a request printed, up to its end; what went anywhere else is an error."""
    shown = []
    while True:
        heard = notebook.client.get_iopub_msg(timeout=60)
        is_its = heard["parent_header"].get("msg_id") == message
        if heard["msg_type"] == "stream":
            assert is_its, f"under another request: {heard['content']}"
            shown.append(heard["content"]["text"])
        if is_its and heard["content"].get("execution_state") == "idle":
            return "".join(shown).split()


@pytest.fixture
def notebook(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("import os")
    return notebook


def by_a_comm(notebook, subshell=None):
    message = notebook.client.session.msg("comm_msg", {"comm_id": "of-a-widget", "data": {}})
    if subshell is not None:
        message["header"]["subshell_id"] = subshell
    notebook.client.shell_channel.send(message)
    return message["header"]["msg_id"]


def in_a_subshell(notebook):
    """As JupyterLab sends what widgets say; kernels before ipykernel 7 have none."""
    subshell = notebook.ask("create_subshell_request").get("subshell_id")
    if subshell is None:
        pytest.skip("this ipykernel has no subshells")
    return by_a_comm(notebook, subshell)


def silently(notebook):
    return notebook.client.execute(WRITES, silent=True, store_history=False)


def by_an_expression(notebook):
    return notebook.client.execute(
        "", silent=True, store_history=False, user_expressions={"x": f"exec({WRITES!r})"}
    )


@pytest.mark.parametrize("request_of", [by_a_comm, in_a_subshell, silently, by_an_expression])
def test_what_runs_beside_cells_prints_under_its_own_request_and_in_order(notebook, request_of):
    notebook.run(
        "from comm import get_comm_manager, create_comm\n"
        f"def called(_):\n    {WRITES}\n"
        "def opened(comm, _): comm.on_msg(called)\n"
        "get_comm_manager().register_target('widget', opened)"
    )
    opening = notebook.client.session.msg(
        "comm_open", {"comm_id": "of-a-widget", "target_name": "widget", "data": {}}
    )
    notebook.client.shell_channel.send(opening)
    assert said_to(notebook, opening["header"]["msg_id"]) == []
    for _ in range(2):
        assert notebook.run("_ = os.system('echo cell')").text == "cell\n"
        assert said_to(notebook, request_of(notebook)) == ["one", "native", "two"]


def test_a_child_that_writes_after_such_a_request_writes_into_its_own_cell(notebook):
    begun = notebook.send(
        "import subprocess, time\n"
        "child = subprocess.Popen('while [ ! -e go ]; do sleep 0.02; done; echo later', shell=True)"
    )
    notebook.wait(begun)
    said_to(notebook, silently(notebook))
    (notebook.folder / "go").touch()
    late = notebook.hear_until(lambda one: one["msg_type"] == "stream")
    assert (late["parent_header"]["msg_id"], late["content"]["text"]) == (begun, "later\n")


def test_a_descriptor_that_is_a_copy_of_the_other_one_is_put_back_as_well(start_kernel):
    notebook = start_kernel(extension=False, **USERS)
    places = "[os.readlink(f'/proc/self/fd/{one}') for one in (1, 2)]"
    stdout, _ = notebook.evaluate(places, "import os")
    notebook.run("%load_ext jupyter_mlgpu")
    notebook.run("import os; _ = os.dup2(1, 2)")
    assert stdout not in notebook.evaluate(places)
    notebook.run("%mlc_trace off")
    assert notebook.evaluate(places) == [stdout, stdout]


def test_a_file_that_the_user_put_in_a_descriptors_place_has_at_once_what_was_written(start_kernel):
    notebook = start_kernel(**USERS)
    notebook.run("%mlc_trace off\nimport os\n_ = os.dup2(os.open('out', os.O_CREAT | os.O_WRONLY), 1)")
    notebook.run("%mlc_trace on")
    result = notebook.run("_ = os.system('echo written'); found = open('out').read()")
    assert notebook.evaluate("found") == "written\n"
    assert any("redirected file descriptor 1" in note for note in result.receipt["notes"])
