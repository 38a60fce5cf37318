"""A kernel that dies: its cell says of what, so does the sidebar, and a wanted restart is no death."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, expect

from tests.jupyter.lab.conftest import LOAD

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LINE = "2026-11-24 08:00:00.123456: F tensorflow/core/a.cc:12] Check failed: n > 0 (-3 vs. 0)"
ABORTS = f"import ctypes, os\nos.write(2, b'{LINE}\\n')\nctypes.CDLL(None).abort()"
SAID = "The kernel died in [2] after "


#: The MIME type of the output under the cell that ended the kernel.
EXIT = "application/vnd.jupyter-mlgpu.exit+json"


def under(lab: Lab, index: int) -> Locator:
    """What the page has written under a cell that ended the kernel."""
    return lab.cell(index).locator(".jp-mlgpu-ExitWidget")


def dismiss(lab: Lab) -> None:
    """Close JupyterLab's own dialog, which says that the kernel restarts."""
    lab.page.get_by_role("dialog").get_by_role("button").last.click()
    expect(lab.page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("os.kill(os.getpid(), 9)", "likely ended from outside (SIGKILL)"),
        ("os._exit(3)", "its code exited with status 3"),
    ],
)
def test_the_cell_that_died_says_of_what_and_still_does_in_the_saved_notebook(
    lab: Lab, code: str, said: str
) -> None:
    path = lab.write(
        "died_here.ipynb", LOAD, f"import os, time; print('before'); time.sleep(0.5); {code}", "1 + 1"
    )
    lab.open("died_here.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(under(lab, 1)).to_contain_text(re.compile(r"^The kernel died here after [\d.]+ m?s"))
    expect(under(lab, 1)).to_contain_text(said)
    expect(lab.cell(1).locator(".jp-OutputArea-output").first).to_have_text("before\n")
    dismiss(lab)

    # The next cell does not tell it again.
    expect(lab.sidebar.locator(".jp-mlgpu-RunningPlace")).to_be_visible()
    lab.run_to_end(2)
    lab.receipts.last.click()
    expect(lab.cell(2)).not_to_contain_text("died")

    lab.save()
    outputs = json.loads(path.read_text())["cells"][1]["outputs"]
    (ours,) = (output["data"] for output in outputs if EXIT in output.get("data", ()))
    assert said in "".join(ours["text/plain"])
    assert said in "".join(ours["text/html"])
    lab.reload()
    lab.wait_for_app()
    expect(under(lab, 1)).to_have_count(1)
    expect(under(lab, 1)).to_contain_text(said)


@pytest.mark.slow
def test_an_output_that_the_next_one_was_to_replace_stays(lab: Lab) -> None:
    code = (
        "import os, time; from IPython.display import clear_output\nprint('epoch 3'); clear_output(wait=True)"
    )
    lab.write("replaced.ipynb", LOAD, f"{code}\ntime.sleep(0.3); os._exit(1)")
    lab.open("replaced.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(under(lab, 1)).to_be_visible()
    expect(lab.cell(1).locator(".jp-OutputArea-output").first).to_have_text("epoch 3\n")
    dismiss(lab)


@pytest.mark.slow
def test_a_kernel_that_dies_between_cells_is_told_in_the_sidebar_until_a_cell_has_run(lab: Lab) -> None:
    later = "import os, threading; threading.Timer(1, os._exit, [4]).start()"
    lab.write("between.ipynb", LOAD, later, "1 + 1")
    lab.open("between.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    dead = lab.sidebar.locator(".jp-mlgpu-Death")
    expect(dead).to_contain_text("The kernel died while no cell was running: its code exited with status 4.")
    dismiss(lab)
    expect(lab.sidebar.locator(".jp-mlgpu-RunningPlace")).to_be_visible()
    expect(dead).to_be_visible()
    expect(under(lab, 1)).to_have_count(0)
    lab.run_to_end(2)
    expect(dead).to_have_count(0)
    lab.receipts.last.click()
    expect(lab.cell(2)).to_contain_text("The kernel died while no cell was running")


@pytest.mark.slow
def test_a_kernel_that_was_never_traced_is_not_told_of(lab: Lab) -> None:
    lab.write("untraced.ipynb", "import os; os._exit(1)")
    lab.open("untraced.ipynb")
    lab.run(0)
    dismiss(lab)
    expect(lab.sidebar).to_contain_text("The kernel was restarted, and this notebook is not traced.")
    expect(under(lab, 0)).to_have_count(0)


@pytest.mark.slow
def test_the_last_lines_are_under_the_cell_and_in_the_sidebar(lab: Lab) -> None:
    lab.write("dies.ipynb", LOAD, ABORTS)
    lab.open("dies.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    dead = lab.sidebar.locator(".jp-mlgpu-Death")
    expect(dead).to_contain_text(SAID, timeout=30_000)
    dismiss(lab)
    for place in (dead, under(lab, 1)):
        expect(place).to_contain_text("native code aborted (SIGABRT).")
        place.get_by_text("Last 1 message").click()
        expect(place.locator(".jp-mlgpu-Raw")).to_have_text(LINE)


@pytest.mark.slow
def test_a_restart_that_the_user_wants_is_no_death(lab: Lab) -> None:
    lab.write("restarted.ipynb", LOAD, "import time; time.sleep(60)")
    lab.open("restarted.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(lab.running).to_have_count(1)
    lab.restart_kernel()
    expect(lab.running).to_have_count(0)
    expect(lab.sidebar.locator(".jp-mlgpu-RunningPlace")).to_be_visible()
    expect(lab.sidebar.locator(".jp-mlgpu-Death")).to_have_count(0)
    expect(under(lab, 1)).to_have_count(0)
