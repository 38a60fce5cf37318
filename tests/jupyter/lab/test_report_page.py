"""The report in a browser without a network: its charts are drawn, light and dark, and nothing else runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page

from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.record.strip import HostLane, Spent
from jupyter_mlgpu.show.receipts.report import report
from jupyter_mlgpu.testing import example_record
from jupyter_mlgpu.testing.records import limited_record

HOSTILE = "</script><script>alert(1)</script><img src='http://x.example/a' onerror='alert(2)'>"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    records = [example_record(1), example_record(2, name=HOSTILE)]
    places = tuple(RanOn("tensorflow", f"gpu:{n}", "cuda", None, 10, 0.5) for n in (0, 1))
    records[1] = replace(records[1], device=DeviceUse({"*": "gpu:0"}, places))
    path = tmp_path / "report.html"
    path.write_text(report(records, title=HOSTILE, notices=[HOSTILE]))
    return path


@contextmanager
def opened(chromium: Browser, file: Path, scheme: str = "light") -> Iterator[tuple[Page, list[str]]]:
    """The page, with a list of everything that it asked for or that went wrong."""
    context = chromium.new_context(offline=True, color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page = context.new_page()
    events: list[str] = []
    page.on("request", lambda request: events.append(request.url))
    page.on("pageerror", lambda error: events.append(str(error)))
    page.on("dialog", lambda dialog: (events.append(dialog.message), dialog.dismiss()))
    page.on("console", lambda message: message.type == "error" and events.append(message.text))
    page.goto(file.as_uri())
    page.wait_for_function("() => [...document.images].every(one => one.naturalWidth > 0)")
    yield page, events
    context.close()


def test_the_charts_are_drawn_offline_and_no_strangers_script_runs(chromium, file):
    with opened(chromium, file) as (page, events):
        assert page.locator("h1").inner_text() == HOSTILE
        page.get_by_text("Charts", exact=True).click()
        assert page.get_by_role("img").count() == 3
        assert [one for one in events if not one.startswith("data:image/svg+xml;")] == [file.as_uri()]


@pytest.mark.slow
def test_no_row_of_a_table_hides_in_a_box_that_scrolls(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "long.html"
    file.write_text(report([example_record(number) for number in range(1, 61)], title="long"))
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.get_by_text("Charts", exact=True).click()
    boxes = page.locator(".pair > div").evaluate_all(
        "all => all.map(one => [one.scrollHeight, one.clientHeight])"
    )
    assert boxes
    assert all(inside <= seen for inside, seen in boxes), boxes
    page.close()


@pytest.mark.slow
def test_a_script_that_got_into_the_page_would_not_run(chromium, file):
    with opened(chromium, file) as (page, _):
        page.evaluate(
            """() => {
                const script = document.createElement("script");
                script.textContent = "document.title = 'ran'";
                document.body.append(script);
            }"""
        )
        assert page.title() != "ran"


#: The colour of a chart's corner, once it was drawn on a canvas.
CORNER = """one => {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 8;
    const context = canvas.getContext("2d");
    context.drawImage(one, 40, 40, 8, 8, 0, 0, 8, 8);
    return context.getImageData(4, 4, 1, 1).data[0];
}"""


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "is_light"), [("light", True), ("dark", False)])
def test_charts_follow_the_readers_colours(chromium, file, scheme, is_light):
    with opened(chromium, file, scheme) as (page, _):
        assert (page.locator(".pair img").first.evaluate(CORNER) > 128) == is_light


def test_a_receipt_opens_to_the_reasons_for_what_is_missing(chromium, file):
    with opened(chromium, file) as (page, _):
        reason = page.get_by_text("Light tracing runs without a profiler.").first
        assert not reason.is_visible()
        page.get_by_text("Receipts", exact=True).click()
        page.locator("article summary").first.click()
        assert not reason.is_visible()
        page.get_by_text(re.compile(r"^Not measured \(\d+\)$")).first.click()
        assert reason.is_visible()


#: Elements that show only a part of their content, or reach beyond the window.
CLIPPED = """() => [...document.querySelectorAll("main, main *")].filter(one =>
    (getComputedStyle(one).overflowX !== "visible" && one.scrollWidth > one.clientWidth) ||
    one.getBoundingClientRect().right > innerWidth
).map(one => one.outerHTML.slice(0, 200))"""


@pytest.mark.parametrize("width", [375, 1280])
def test_nothing_is_clipped_and_the_page_does_not_scroll_sideways(chromium, tmp_path, width):
    file = tmp_path / "wide.html"
    name = "history = model.fit(images[:20], labels, validation_data=(others, labels_of_others), epochs=2)"
    records = [limited_record(1), example_record(2, name=HOSTILE), example_record(3, name=name)]
    readings = records[2].readings
    busy = Reading("device_time", 0.3, "s", "device", "CUPTI", 9, device="gpu:0")
    records[2] = replace(
        records[2],
        readings=(*(one for one in readings if one.quantity != "device_time"), busy),
        host_lane=HostLane(0.05, "iiiiiwwppp", (Spent("i", 0.25), Spent("p", 0.15), Spent("w", 0.1))),
    )
    file.write_text(report(records, title=HOSTILE, notices=[HOSTILE]))
    with opened(chromium, file) as (page, _):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(CLIPPED) == []
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        assert page.evaluate(CLIPPED) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_answer_and_the_slowest_cells_stand_above_the_fold_and_the_rest_is_folded(chromium, tmp_path):
    file = tmp_path / "answer.html"
    file.write_text(report([limited_record(number) for number in range(1, 9)], title="lesson.ipynb"))
    with opened(chromium, file) as (page, _):
        assert page.locator("main > p").first.inner_text().endswith("of 1 min 58 s was preparing input")
        assert page.locator("main > article").count() == 5
        assert page.locator("main > .all tr").count() == 1 + 8
        assert page.locator("details[open]").count() == 0
        receipts = page.get_by_text("Receipts", exact=True)
        page.keyboard.press("Tab")  # to the first fold
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert receipts.evaluate("one => one.closest('details').open")
        assert page.locator("details[open] > article").count() == 8
