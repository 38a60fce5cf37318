"""A kernel that dies: the sidebar says of what, and a restart that the user wants is no death."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.jupyter.lab.conftest import LOAD

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LINE = "2026-11-24 08:00:00.123456: F tensorflow/core/a.cc:12] Check failed: n > 0 (-3 vs. 0)"
ABORTS = f"import ctypes, os\nos.write(2, b'{LINE}\\n')\nctypes.CDLL(None).abort()"
SAID = "The kernel died in [2] after "


@pytest.mark.slow
def test_the_sidebar_says_what_a_kernel_died_of_and_so_does_the_next_receipt(lab: Lab) -> None:
    lab.write("dies.ipynb", LOAD, ABORTS, "1 + 1")
    lab.open("dies.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    dead = lab.sidebar.locator(".jp-mlgpu-Death")
    expect(dead).to_contain_text(SAID, timeout=30_000)
    expect(dead).to_contain_text("native code aborted (SIGABRT).")
    lab.page.get_by_role("dialog").get_by_role("button").last.click()  # JupyterLab's own
    dead.get_by_text("Last 1 message").click()
    expect(dead.locator(".jp-mlgpu-Raw")).to_have_text(LINE)

    expect(lab.sidebar.get_by_role("button", name="Start tracing")).to_be_visible(timeout=30_000)
    expect(dead).to_be_visible()
    lab.run_to_end(0)
    expect(dead).to_have_count(0)
    lab.run_to_end(2)
    receipt = lab.receipts.last
    receipt.click()
    expect(lab.cell(2)).to_contain_text(SAID)


@pytest.mark.slow
def test_a_restart_that_the_user_wants_is_no_death(lab: Lab) -> None:
    lab.write("restarted.ipynb", LOAD, "import time; time.sleep(60)")
    lab.open("restarted.ipynb")
    lab.run_to_end(0)
    lab.run(1)
    expect(lab.running).to_have_count(1)
    lab.restart_kernel()
    expect(lab.sidebar).to_contain_text("The kernel was restarted, and this notebook is not traced.")
    expect(lab.sidebar.locator(".jp-mlgpu-Death")).to_have_count(0)
