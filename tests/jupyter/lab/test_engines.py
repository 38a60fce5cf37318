"""What a student sees of several engines: a row each on one clock, under the cell and in the sidebar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.explain.engines.collection import Collection
from jupyter_mlgpu.explain.engines.offsets import Offset
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.show.page.view import MIME_TYPE
from jupyter_mlgpu.testing import example_record
from tests.jupyter.lab.test_plans import TOO_WIDE

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

MARKUP = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>"
HOST = "a" * 12
GONE = joined(
    say("Engine {engine} is gone: it died or was shut down.", engine="2"),
    say("Nothing was collected from it before, so its records are lost."),
)


def told(number: int, *spans: tuple[str, float, float], ahead: float = 0.0) -> EngineReport:
    """An engine with blocks (name, from, to) in milliseconds, its clock `ahead` seconds before ours."""
    records = []
    for place, (name, start, end) in enumerate(spans, 1):
        record = example_record(place, run=f"{number:032d}", name=name)
        wall = Reading("wall_time", (end - start) / 1000, "s", "cell", "clock", 1, detail="a clock")
        records.append(
            replace(
                record,
                cell=replace(record.cell, source_digest=None),
                started_monotonic_ns=round(start * 1e6 + ahead * 1e9),
                readings=(wall, *record.readings[1:]),
            )
        )
    return EngineReport(number, HOST, Offset(round(ahead * 1e9), 1_500_000, 20), tuple(records))


def collected(name: str = "compute") -> Collection:
    """Two engines of which one is slow and its clock minutes behind, and a third one that died."""
    fast = told(0, (name, 0, 10), ("communicate", 10, 52))
    slow = told(1, (name, 0, 50), ("communicate", 50, 52), ahead=-240)
    return Collection([fast, slow, EngineReport(2, why=GONE, gone=True)], HOST)


def drawn(lab: Lab) -> Locator:
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-Figure")


def test_a_saved_collection_is_drawn_under_its_cell_with_its_tables_and_what_is_missing(lab: Lab) -> None:
    lab.write_with_receipts("engines.ipynb", collected()._repr_mimebundle_())
    lab.open_without_kernel("engines.ipynb")
    view = drawn(lab)
    expect(view).to_have_count(1)
    expect(view).to_contain_text("Partial: 2 of 3 engines answered; 4 records, 52 ms in total.")
    expect(view.get_by_role("img", name="Partial: 2 of 3 engines answered")).to_be_visible()
    expect(view).to_contain_text("engine 2: gone")
    expect(view.locator("p").first).to_have_text(
        "Partial, 2 of 3 engines: Engine 1 kept the others waiting: engine 0 waited 40 ms for it."
    )
    expect(view.get_by_role("table", name="What each engine reported")).to_have_count(0)
    view.get_by_text("What each engine reported", exact=True).click()
    view.get_by_text("Computing and communicating separately", exact=True).click()
    rows = view.get_by_role("table", name="What each engine reported").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("0this machine252 ms+0 µs ± 1.5 mscollected")
    expect(rows.nth(2)).to_contain_text("-4 min 00 s ± 1.5 ms")
    expect(rows.nth(3)).to_contain_text("gone")
    phases = view.get_by_role("table", name="Computing and communicating separately").get_by_role("row")
    expect(phases.nth(1)).to_have_text("010 ms42 ms40 ms ± 3 ms")
    expect(phases.nth(2)).to_have_text("150 ms2 ms0 µs ± 3 ms")
    expect(view).to_contain_text(GONE)
    expect(view).to_contain_text("Communication includes waiting")
    # No second drawing: the HTML is for viewers without our view.
    assert lab.cell(0).locator("img").count() == 0


def test_a_bar_and_the_table_read_a_record_with_its_engine(lab: Lab) -> None:
    lab.write_with_receipts("bars.ipynb", collected()._repr_mimebundle_())
    lab.open_without_kernel("bars.ipynb")
    view = drawn(lab)
    bars = view.get_by_role("img", name="Partial: 2 of 3 engines answered").locator("rect")
    expect(bars).to_have_count(4)
    expect(bars.locator("title").last).to_have_text("communicate")
    view.get_by_text("The records in order", exact=True).click()
    rows = view.get_by_role("table", name="The records in order").get_by_role("row")
    expect(rows.nth(4)).to_have_text("1communicate50 ms2 ms")


def test_a_collection_of_the_kernel_s_is_opened_as_a_page(lab: Lab) -> None:
    code = (
        "from jupyter_mlgpu.testing import FakeClock, example_record\n"
        "from jupyter_mlgpu.testing.engines import FakeClient, FakeEngine\n"
        "from jupyter_mlgpu.explain.engines.collecting import collect_with\n"
        "clock = FakeClock()\n"
        "records = [[example_record(1, run=str(number) * 32)] for number in (0, 1)]\n"
        "engines = [FakeEngine(clock, one, ahead=n * 60.0) for n, one in enumerate(records)]\n"
        "collect_with(FakeClient(*engines), 5.0, clock)"
    )
    lab.write("live_engines.ipynb", code)
    lab.open("live_engines.ipynb")
    lab.run_to_end(0)
    page = lab.open_result()
    region = page.get_by_role("group", name="2 records from 2 engines")
    expect(region).to_contain_text("2 records from 2 engines")
    region.get_by_text("What each engine reported", exact=True).click()
    expect(region.get_by_role("table", name="What each engine reported")).to_contain_text(
        "+1 min 00 s ± 1 ms"
    )
    with lab.result_of(240):
        assert page.evaluate(TOO_WIDE) == []


def test_names_of_records_are_text_and_what_cannot_be_read_is_said(lab: Lab) -> None:
    page = collected()._repr_mimebundle_()[MIME_TYPE]
    newer: dict[str, Any] = {MIME_TYPE: {**page, "schema": 2}}
    lab.write_with_receipts("hostile.ipynb", collected(MARKUP)._repr_mimebundle_(), newer)
    lab.open_without_kernel("hostile.ipynb")
    view = drawn(lab).first
    view.get_by_text("The records in order", exact=True).click()
    expect(view.get_by_role("table", name="The records in order")).to_contain_text(MARKUP[:40])
    expect(drawn(lab).nth(1)).to_contain_text("made by a newer jupyter_mlgpu")
    assert view.locator("img, script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None


@pytest.mark.slow
def test_a_chinese_jupyterlab_shows_a_collection_in_chinese(lab: Lab, chinese: None) -> None:
    lab.write_with_receipts("chinese_engines.ipynb", collected()._repr_mimebundle_())
    lab.load("chinese_engines.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    expect(drawn(lab)).to_contain_text("3 个引擎中有 2 个作答")
    expect(drawn(lab)).to_contain_text("它已终止或被关闭。")
    expect(drawn(lab)).to_contain_text("通信包含等待")
