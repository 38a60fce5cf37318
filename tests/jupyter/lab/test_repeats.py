"""A cell that repeats: one output, one receipt with its runs, and one group in the sidebar."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from jupyter_mlgpu.record.record import Record, Repeat
from tests.jupyter.lab.listed import LOAD, open_saved, open_with, record

if TYPE_CHECKING:
    from pathlib import Path

    from tests.jupyter.lab.conftest import Lab

WALLS = (3.0, 1.2, 1.1, 1.3, 1.2, 1.2)


def runs_of_one_cell() -> list[Record]:
    """The records of `%%mlc_trace --ops --repeat 5` over the cell [10]."""
    made = []
    for turn, wall in enumerate((*WALLS, 9.0)):
        last = turn > 5
        one = record(turn + 1, "model.fit(x, y)", wall=wall, code="a", mode="profiled" if last else "light")
        cell = replace(one.cell, id="cell-0", execution_count=10)
        made.append(replace(one, cell=cell, repeat=Repeat(turn, 5, WALLS if last else ())))
    return made


def test_one_receipt_shows_the_runs_with_the_warm_up_apart_and_no_profiled_time_as_timing(lab: Lab) -> None:
    open_saved(lab, "repeats_receipt.ipynb", runs_of_one_cell()[-1:])
    receipt = lab.cell(0).locator(".jp-mlgpu-Receipt")
    line = receipt.get_by_role("button").first
    expect(line).to_contain_text("1.2 s, median of 5 runs")
    expect(line).not_to_contain_text("profil")
    expect(line).not_to_contain_text("9 s")
    strip = receipt.locator(".jp-mlgpu-Runs")
    expect(strip).to_contain_text("5 runs · 1.1 s to 1.3 s · warm-up 3 s")
    expect(strip).to_contain_text("the rest is from one more run, with the profiler on")
    picture = strip.get_by_role("img")
    expect(picture).to_have_accessible_name(
        "Warm-up 3 s; wall times of the runs, in order: 1.2 s, 1.1 s, 1.3 s, 1.2 s, 1.2 s"
    )
    expect(picture.locator("rect[data-kind=timed]")).to_have_count(5)
    expect(picture.locator("rect[data-kind=warm-up]")).to_have_count(1)


@pytest.mark.slow
def test_the_runs_are_one_group_in_the_sidebar_each_by_its_number(lab: Lab, tmp_path: Path) -> None:
    open_with(lab, "repeats_group.ipynb", [*runs_of_one_cell(), record(20, "plot()")], tmp_path)
    lab.run_to_end(1)
    heading = lab.sidebar.locator(".jp-mlgpu-HeadingRow")
    expect(heading).to_have_count(1)
    expect(heading.locator(".jp-mlgpu-Count")).to_have_text("[10]")
    expect(heading).to_contain_text("5 runs · 1.1 s to 1.3 s")
    numbers = lab.records.locator(".jp-mlgpu-Count")
    expect(numbers).to_have_text(
        ["[20]", "[10.6]", "[10.5]", "[10.4]", "[10.3]", "[10.2]", "[10.1]", "[10.0]"]
    )
    expect(lab.records.last).to_contain_text("warm-up")
    expect(lab.records.nth(1)).to_contain_text("profiled")
    heading.get_by_role("button").click()
    expect(numbers).to_have_text(["[20]"])


def test_a_record_without_a_count_is_named_by_its_own_number(lab: Lab) -> None:
    nameless = record(7, "a_script()")
    nameless = replace(nameless, cell=replace(nameless.cell, execution_count=None))
    open_saved(lab, "repeats_own.ipynb", [nameless])
    expect(lab.records.locator(".jp-mlgpu-Count")).to_have_text(["#7"])


@pytest.mark.slow
def test_a_cell_that_repeats_has_one_output_and_one_receipt(lab: Lab) -> None:
    lab.write("repeats_live.ipynb", LOAD, "%%mlc_trace --ops --repeat 3\nprint('mine')")
    lab.open("repeats_live.ipynb")
    for index in (0, 1):
        lab.run_to_end(index)
    cell = lab.cell(1)
    expect(cell.locator(".jp-OutputArea-output pre")).to_have_text(["mine\n"])
    expect(cell.locator(".jp-mlgpu-Receipt")).to_have_count(1)
    expect(cell.locator(".jp-mlgpu-Runs")).to_contain_text("3 runs")
    expect(lab.sidebar.locator(".jp-mlgpu-HeadingRow .jp-mlgpu-Count")).to_have_text(
        [re.compile(r"^\[\d+\]$")]
    )
    expect(lab.records).to_have_count(5)
