"""The pictures of results in the documentation, drawn by a browser from the pages that people get.

They are written to docs/images where JUPYTER_MLGPU_SCREENSHOTS is set, as `make screenshots` does. The race
and the cells of the report were measured; the students of the class are invented.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.experiment.race.result import RaceResult
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.report import report
from tests.support.pictures import folder_for, with_few_colours
from tests.support.strips import CELLS, judged

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("playwright")

ROOT = Path(__file__).parents[2]
RACE = ROOT / "docs/measurements/2026-11-21-h200-race/row-by-column.json"
#: Bytes: a page of the documentation should load at once.
SMALL = 60_000

Take = Callable[[str, str, int, int], Path]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    from tests.support import browser

    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser.on_path())
        yield chrome
        chrome.close()


@pytest.fixture
def take(chromium: Browser, tmp_path: Path) -> Iterator[Take]:
    """Draw a page of so many pixels, and return its picture."""
    folder = folder_for(tmp_path)
    context = chromium.new_context(device_scale_factor=1.5, color_scheme="light")

    def picture(name: str, page: str, width: int, height: int) -> Path:
        shown = context.new_page()
        shown.set_viewport_size({"width": width, "height": height})
        shown.set_content(page)
        path = folder / f"{name}.png"
        shown.screenshot(path=path)
        with_few_colours(path, 64)
        assert 8_000 < path.stat().st_size < SMALL
        return path

    yield picture
    context.close()


def framed(result: str) -> str:
    return f'<body style="margin: 12px; font: 14px sans-serif; background: #fff">{result}</body>'


def test_screenshot_of_a_race(take: Take) -> None:
    race = RaceResult.from_json(json.loads(RACE.read_text(encoding="utf-8")))
    take("race", framed(race._repr_html_()), 780, 545)


def test_screenshot_of_a_plan(take: Take) -> None:
    lesson = json.loads((ROOT / "notebooks/05_eager_and_graph.ipynb").read_text(encoding="utf-8"))
    outputs = [output for cell in lesson["cells"] for output in cell.get("outputs", ())]
    plan = next(html for one in outputs if "Planned for a Mac" in (html := html_of(one)))
    take("plan", framed(plan), 1155, 430)


def html_of(output: dict[str, dict[str, list[str] | str]]) -> str:
    return "".join(output.get("data", {}).get("text/html", ""))


def test_screenshot_of_a_report(take: Take) -> None:
    records = [named(judged(name), name.removesuffix(", run 1")) for name in CELLS if name.endswith("run 1")]
    take("report", report(records, title="training.ipynb"), 860, 620)


def named(record: Record, name: str) -> Record:
    return replace(record, cell=replace(record.cell, name=name))


def test_screenshot_of_a_class(take: Take) -> None:
    pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")
    from tests.docs.invented_class import class_page

    take("class", class_page(), 1180, 600)
