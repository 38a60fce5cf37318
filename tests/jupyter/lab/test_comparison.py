"""A comparison in JupyterLab: the chart is drawn, and the table stands below it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from jupyter_mlgpu import save_records
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab


@pytest.mark.slow
def test_a_comparison_of_two_files_is_a_chart_and_a_table(lab: Lab, tmp_path: Path) -> None:
    for name, times in {"before": 1.0, "after": 3.0}.items():
        records = []
        for number in range(1, 6):
            record = example_record(number)
            wall = Reading(
                "wall_time", times * (1 + number / 100), "s", "cell", "simulated", 1, detail="fake clock"
            )
            records.append(replace(record, readings=(wall, *record.readings[1:])))
        save_records(tmp_path / f"{name}.jsonl", records)
    lab.write(
        "compare.ipynb",
        "%load_ext jupyter_mlgpu",
        f"%mlc_trace compare {tmp_path}/before.jsonl {tmp_path}/after.jsonl",
    )
    lab.open("compare.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    view = lab.page.locator(".jp-OutputArea .jp-mlgpu-Figure")
    chart = view.get_by_role("img", name="after.jsonl as a multiple of before.jsonl, 95 % interval")
    expect(chart).to_contain_text("Wall time")
    expect(chart).to_contain_text("after.jsonl as a multiple of before.jsonl, 95 % interval")
    table = view.locator("table")
    expect(table.get_by_role("row").nth(1)).to_contain_text("▲ more")
    lab.page.screenshot(path=tmp_path / "comparison.png")
