"""What a student sees of a benchmark: its figures first, one chart, and the rest folded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page.rendering import bundle_of
from jupyter_mlgpu.testing import FakeBackend, FakeClock
from jupyter_mlgpu.testing.bench import FakeMonitor, FakeRunner, fake_case

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

MARKUP = "<img src=x onerror='window.pwned = 1'>"


def measured(seconds: float, **case: Any) -> CaseResult:
    clock = FakeClock()
    backend = FakeBackend("torch", devices=("gpu:0",))
    result, _ = measure(
        replace(fake_case(FakeRunner(clock, [seconds]), **case), framework="torch"),
        backend.devices()[0],
        backend=backend,
        monitor=FakeMonitor(clock),
        clock=clock,
        budget=Budget(repeats=6, sample_s=0.1, warm_up_s=2.0),
    )
    return result


def run(*results: CaseResult, processor: str = "a chip") -> BenchRun:
    return BenchRun(
        results, {"processor": processor}, {"torch": "2.13.0"}, "2026-11-22T01:00:00Z", "a clock", False
    )


def products() -> BenchRun:
    moved = replace(
        measured(0.001, name="bandwidth"),
        parameters={"operation": "add"},
        items=3e9,
        unit="bytes",
        flops=2.5e8,
        moved=3e9,
        peak_type=None,
    )
    return run(measured(0.01, n=512), measured(0.1, n=2048), moved)


def shown(made: BenchRun) -> dict[str, Any]:
    """A benchmark as IPython puts it into a notebook."""
    return {**bundle_of(made), "text/html": made._repr_html_(), "text/plain": repr(made)}


def figures(lab: Lab) -> Locator:
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-Figure")


def test_a_saved_benchmark_says_its_best_figures_first_and_shows_one_chart(lab: Lab) -> None:
    lab.write_with_receipts("bench.ipynb", shown(products()))
    lab.open_without_kernel("bench.ipynb")
    drawn = figures(lab)
    expect(drawn).to_have_count(1)
    expect(drawn.locator("p").first).to_have_text("172 GFLOP/s in float32, 3 TB/s.")
    expect(drawn.get_by_role("img")).to_have_count(1)
    expect(drawn.get_by_role("table")).to_have_count(0)
    chart = drawn.get_by_role("img", name="Products of n x n matrices")
    expect(chart.locator(".jp-mlgpu-Plot-marker")).to_have_count(2)
    expect(chart.locator(".jp-mlgpu-Plot-spread")).to_have_count(2)
    drawn.get_by_text("More charts").click()
    roof = drawn.get_by_role("img", name="Roofline")
    expect(roof.locator("[data-mark=roof] .jp-mlgpu-Plot-line")).to_have_count(1)
    # No second drawing: the HTML is for viewers without our view.
    assert lab.cell(0).locator("img[src], .js-plotly-plot").count() == 0


def test_a_chart_uses_its_place_from_end_to_end(lab: Lab) -> None:
    lab.write_with_receipts("bench_fitted.ipynb", shown(products()))
    lab.open_without_kernel("bench_fitted.ipynb")
    figures(lab).get_by_text("More charts").click()
    for name in ("Products of n x n matrices", "Roofline"):
        chart = figures(lab).get_by_role("img", name=name)
        used = chart.evaluate(USED)
        # Of the room between its outermost lines: no power of ten is empty.
        assert used[0] > 0.7, (name, used)
        assert used[1] > 0.7, (name, used)


#: What part of the width and height of a chart's grid its series take.
USED = """svg => {
    const span = (nodes, way) => {
        const boxes = [...nodes].map(one => one.getBoundingClientRect());
        return way === 'x'
            ? Math.max(...boxes.map(one => one.right)) - Math.min(...boxes.map(one => one.left))
            : Math.max(...boxes.map(one => one.bottom)) - Math.min(...boxes.map(one => one.top));
    };
    const grid = svg.querySelectorAll('.jp-mlgpu-Plot-grid');
    const series = svg.querySelectorAll('.jp-mlgpu-Plot-line, .jp-mlgpu-Plot-marker');
    return ['x', 'y'].map(way => span(series, way) / span(grid, way));
}"""


def test_a_lower_bound_is_told_in_the_headline_and_a_caveat_of_many_cases_stands_once(lab: Lab) -> None:
    flag = [
        say("Something else used {device} at the same time: {programs}.", device="cpu:0", programs=one)
        for one in ("others with 21% of the cores' time", "others with 52% of the cores' time")
    ]
    noisy = [replace(measured(0.1, n=2**place), flags=(flag[place % 2],)) for place in range(5, 10)]
    lab.write_with_receipts("bench_noisy.ipynb", shown(run(*noisy, measured(0.1, n=1024))))
    lab.open_without_kernel("bench_noisy.ipynb")
    # The largest product was undisturbed, and its figure is in the headline.
    expect(figures(lab).locator("p").first).to_have_text("21.5 GFLOP/s in float32.")
    figures(lab).get_by_text("How to read these figures").click()
    caveats = figures(lab).get_by_role("listitem").filter(has_text="Something else used")
    expect(caveats).to_have_text(
        "For 5 of 6 cases: Something else used cpu:0 at the same time: "
        "others with 21% to 52% of the cores' time."
    )
    lab.write_with_receipts("bench_bound.ipynb", shown(run(*noisy)))
    lab.open_without_kernel("bench_bound.ipynb")
    expect(figures(lab).locator("p").first).to_have_text(
        "2.68 GFLOP/s in float32; other programs were busy, so this is a lower bound."
    )


def test_its_page_has_its_charts_its_table_and_what_the_figures_mean(lab: Lab) -> None:
    lab.write_with_receipts("bench_sidebar.ipynb", shown(products()))
    lab.open_without_kernel("bench_sidebar.ipynb")
    region = lab.open_result().get_by_role("group", name="Benchmark: gemm, bandwidth")
    expect(region.get_by_role("img")).to_have_count(1)
    expect(region.locator("p").nth(1)).to_contain_text("fake gpu, 2026-11-22.")
    region.get_by_text("More charts").click()
    expect(region.get_by_role("img")).to_have_count(2)
    region.get_by_text("The figures as a table").click()
    rows = region.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1).get_by_role("rowheader")).to_contain_text("gemm")
    region.get_by_text("How to read these figures").click()
    expect(region.get_by_role("listitem").filter(has_text="A step's time is the median")).to_be_visible()
    with lab.result_of(240):
        edge = region.evaluate("one => one.getBoundingClientRect().right")
        for chart in region.get_by_role("img").all():
            chart.evaluate(
                "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            assert chart.evaluate("one => one.getBoundingClientRect().right") <= edge + 1


def test_a_benchmark_without_a_chart_has_its_table_and_names_are_text(lab: Lab) -> None:
    alone = replace(measured(0.1), moved=None, case="dispatch", parameters={})
    lab.write_with_receipts("bench_plain.ipynb", shown(run(alone, processor=MARKUP)))
    lab.open_without_kernel("bench_plain.ipynb")
    expect(figures(lab).get_by_role("img")).to_have_count(0)
    figures(lab).get_by_text("The figures as a table").click()
    expect(figures(lab).get_by_role("table").get_by_role("row")).to_have_count(2)
    expect(figures(lab).locator("img[src], script")).to_have_count(0)
    assert lab.page.evaluate("() => window.pwned") is None


@pytest.mark.slow
def test_a_chinese_jupyterlab_shows_a_benchmark_in_chinese(lab: Lab, chinese: None) -> None:
    lab.write_with_receipts("bench_chinese.ipynb", shown(products()))
    lab.load("bench_chinese.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    expect(figures(lab)).to_contain_text("基准测试")
    figures(lab).get_by_text("更多图表").click()
    expect(figures(lab)).to_contain_text("屋顶线")
