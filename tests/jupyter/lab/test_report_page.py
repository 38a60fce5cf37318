"""The report in a browser without a network: its charts are drawn, light and dark, and nothing else runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from msgspec.structs import replace
from playwright.sync_api import Browser, Page

from jupyter_mlgpu.record.record import DeviceUse, RanOn
from jupyter_mlgpu.show.receipts.report import report
from jupyter_mlgpu.testing import example_record

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
        assert page.get_by_role("img").count() == 3
        assert [one for one in events if not one.startswith("data:image/svg+xml;")] == [file.as_uri()]


@pytest.mark.slow
def test_no_row_of_a_table_hides_in_a_box_that_scrolls(chromium: Browser, tmp_path: Path) -> None:
    file = tmp_path / "long.html"
    file.write_text(report([example_record(number) for number in range(1, 61)], title="long"))
    page = chromium.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
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
        assert (page.get_by_role("img").first.evaluate(CORNER) > 128) == is_light


def test_a_receipt_opens_to_the_reasons_for_what_is_missing(chromium, file):
    with opened(chromium, file) as (page, _):
        reason = page.get_by_text("Light tracing runs without a profiler.").first
        assert not reason.is_visible()
        page.locator("article summary").first.click()
        assert not reason.is_visible()
        page.get_by_text(re.compile(r"^Not measured \(\d+\)$")).first.click()
        assert reason.is_visible()


@pytest.mark.slow
def test_a_narrow_window_puts_the_tables_below_the_charts(chromium, file):
    with opened(chromium, file) as (page, _):
        page.set_viewport_size({"width": 400, "height": 800})
        page.wait_for_function("() => document.documentElement.scrollWidth <= 400")
