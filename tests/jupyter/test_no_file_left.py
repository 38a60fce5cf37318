"""A cell that opens files until no more can be opened gets its receipt, and no line of ours."""

import pytest

pytestmark = pytest.mark.kernel

#: IPython saves its history by a thread that opens a file, and prints what then goes wrong.
QUIET = "get_ipython().history_manager.enabled = False"
OPEN_ALL = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
kept = []
try:
    while True:
        kept.append(open('/dev/null'))
except OSError as error:
    print(error.errno)
"""


@pytest.fixture
def notebook(start_kernel):
    notebook = start_kernel(extension=False)
    notebook.evaluate("None", prepare=QUIET)
    return notebook


def test_the_first_cell_may_leave_no_file_that_can_be_opened(notebook):
    notebook.run("%load_ext jupyter_mlgpu")
    result = notebook.run(OPEN_ALL)
    assert (result.status, result.text) == ("ok", "24\n")
    assert result.receipt["outcome"] == "ok"
    again = notebook.run("1 + 1")
    assert (again.text, again.receipt["outcome"]) == ("", "ok")


def test_where_the_cell_that_loads_us_does_so_nothing_is_said_and_receipts_come_later(notebook):
    assert notebook.run(f"%load_ext jupyter_mlgpu\n{OPEN_ALL}").text == "24\n"
    assert notebook.run("1 + 1").text == ""
    assert notebook.run("kept.clear()").text == ""
    assert notebook.run("1 + 1").receipt["outcome"] == "ok"


def test_what_draws_is_loaded_after_the_reply_to_the_cell_that_loads_the_extension(start_kernel):
    notebook = start_kernel(extension=False)
    loaded = "print('jupyter_mlgpu.show.receipts.bundle' in sys.modules)"
    assert notebook.run(f"import sys\n%load_ext jupyter_mlgpu\n{loaded}").text == "False\n"
    assert notebook.run(loaded).text == "True\n"
