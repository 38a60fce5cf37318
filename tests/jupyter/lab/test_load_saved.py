"""Large saved notebooks: their receipts are read without a kernel, in slices between which the page answers.

`python -m benchmarks sidebar` measures how long a slice keeps the page.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.jupyter.lab.load import (
    count_slices,
    open_saved,
    receipt,
    slices,
    wait_for_text,
    write_saved,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.jupyter.lab.conftest import Lab


@pytest.mark.slow
def test_two_hundred_receipts_of_a_saved_notebook_are_read_in_slices(new_tab: Callable[[], Lab]) -> None:
    lab = new_tab()
    cells = [[receipt(part * 10 + number, lines=10) for number in range(10)] for part in range(20)]
    write_saved(lab, "saved.ipynb", cells)
    open_small(lab)
    count_slices(lab.page)
    open_saved(lab, "saved.ipynb")
    wait_for_text(lab, "Cells 200", "Messages 2,000")
    # At a clock that is always over the time, a slice for each receipt.
    assert slices(lab.page) >= 200


@pytest.mark.slow
def test_a_saved_record_of_ten_megabytes_is_read_in_part_and_the_rest_is_counted(lab: Lab) -> None:
    write_saved(lab, "large.ipynb", [[receipt(1, lines=2000, text="x" * 5000)]])
    open_small(lab)
    open_saved(lab, "large.ipynb")
    wait_for_text(lab, "Cells 1", "Messages [0-9]")
    lab.show_logs()
    expect(lab.sidebar).to_contain_text(re.compile("Messages left out of saved receipts: [0-9],"))


def open_small(lab: Lab) -> None:
    """Have JupyterLab and the sidebar loaded before."""
    lab.write("small.ipynb", "1")
    lab.open("small.ipynb")
