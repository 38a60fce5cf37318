"""A comparison in JupyterLab: the chart is drawn, and the table stands below it."""

from __future__ import annotations

import re
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


def test_the_same_pair_is_one_sentence_in_one_direction_everywhere(lab: Lab) -> None:
    lab.write(
        "direction.ipynb",
        "%load_ext jupyter_mlgpu\nimport time",
        "time.sleep(0.2)",
        "time.sleep(0.1)",
        "%mlc_trace compare 2 3",
        "%mlc_trace compare 3 2",
    )
    lab.open("direction.ipynb")
    for index in range(5):
        lab.run_to_end(index)
    told = re.compile(
        r"^\[2\] took (1\.9|2)\d*\.?\d* times as long as \[3\]; one run each, so this is approximate\.$"
    )
    shown = lab.page.locator(".jp-OutputArea .jp-mlgpu-Figure")
    expect(shown).to_have_count(2)
    lab.records.nth(0).get_by_role("checkbox").check()
    lab.records.nth(1).get_by_role("checkbox").check()
    lab.sidebar.get_by_role("button", name="Compare").click()
    page = lab.sidebar.get_by_role("region", name="Comparison")
    headline = page.locator(".jp-mlgpu-Comparison-headline")
    expect(headline).to_have_text(told)
    for place in shown.all():
        expect(place.locator("p").first).to_have_text(headline.inner_text())
    for place in (*shown.all(), page):
        rows = place.locator("table").get_by_role("row")
        heads = [one.text_content() for one in rows.first.get_by_role("columnheader").all()]
        assert heads[-4:] == ["[3]", "[2]", "[2] / [3]", "verdict"]
        cells = [one.text_content() or "" for one in rows.nth(1).get_by_role("cell").all()]
        times = headline.inner_text().split()[2]
        assert cells[-2:] == [f"about {times}", "\N{ALMOST EQUAL TO} approximate"]


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
