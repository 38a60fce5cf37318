"""What a student sees of plans, races and benchmarks: under their cell, and as a page beside the notebook."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.graphs.planning.forecast import Plan, of_graph
from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, GivenTensor, Node, Operand
from jupyter_mlgpu.graphs.planning.placing import target
from jupyter_mlgpu.show.page.rendering import bundle_of
from jupyter_mlgpu.show.page.view import MIME_TYPE
from jupyter_mlgpu.show.planning import live
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

MARKUP = "<img src=x onerror='window.pwned = 1'><script>window.pwned = 1</script>"
EINSUM = "Einsum: no Metal kernel in tensorflow-metal 1.2.0"


def node(name: str, operation: str, *takes: str) -> Node:
    operands = tuple(Operand(take, 0, f"in{place}") for place, take in enumerate(takes))
    return Node(name, operation, {"T": ("float32",)}, operands, (), (GivenTensor("out", "float32", 1024),))


def chain(count: int, name: str = "main") -> Body:
    """Operations one after another, every fifth of them without a kernel for Metal."""
    kinds = ["Einsum" if place % 5 == 0 else "Relu" for place in range(count)]
    takes = [[f"{name}/{place - 1}"] if place else [] for place in range(count)]
    return Body(name, tuple(node(f"{name}/{place}", kinds[place], *takes[place]) for place in range(count)))


def plan(*bodies: Body, subject: str = "a model") -> Plan:
    return of_graph(FunctionGraph(bodies), target("metal"), subject)


def shown(planned: Plan) -> dict[str, Any]:
    """A plan as IPython puts it into a notebook."""
    return {
        **bundle_of(planned),
        "text/html": planned._repr_html_(),
        "text/plain": repr(planned),
    }


def samples(middle: float) -> tuple[float, ...]:
    return tuple(middle * (1 + place / 100) for place in range(-5, 6))


def race(*, over: bool = True, cell: str = "x @ x") -> RaceResult:
    sizes = (10.0, 100.0, 1000.0) if over else (None,)
    cpu = tuple(Timing(size, samples(1e-9 * (size or 100) ** 3), 2, True) for size in sizes)
    gpu = tuple(Timing(size, samples(1e-4), 2, size != 10) for size in sizes)
    lanes = (Lane("cpu:0", "cpu", "a CPU", cpu), Lane("gpu:0", "cuda", None, gpu))
    variable = "n" if over else None
    return RaceResult(
        cell, "torch", variable, 11, False, lanes, "ok", "2026-01-01T00:00:00.000000Z", "a clock"
    )


def raced(result: RaceResult) -> dict[str, Any]:
    """A race as IPython puts it into a notebook."""
    return {**bundle_of(result), "text/html": result._repr_html_(), "text/plain": repr(result)}


def figures(lab: Lab) -> Locator:
    """The plans and races under the cells of the notebook in focus."""
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-Figure")


def graph(lab: Lab) -> Locator:
    return figures(lab).first.get_by_role("group", name="Graph of main")


def width_of(lab: Lab) -> float:
    return float(graph(lab).locator("> svg").get_attribute("width") or 0)


def test_a_saved_plan_is_drawn_under_its_cell_and_says_that_it_is_a_forecast(lab: Lab) -> None:
    lab.write_with_receipts("plan.ipynb", shown(plan(chain(12))))
    lab.open_without_kernel("plan.ipynb")
    drawn = figures(lab)
    expect(drawn).to_have_count(1)
    expect(drawn).to_contain_text("a model, planned for Metal")
    expect(drawn.locator("p").first).to_have_text(
        "Planned for a Mac: 9 of 12 operations would run on the GPU; 3 stay on the CPU (Einsum)."
    )
    expect(drawn).to_contain_text("A forecast: nothing was run")
    expect(drawn).to_contain_text("9 with a kernel for Metal")
    expect(drawn).to_contain_text("3 on the CPU")
    boxes = graph(lab).locator(".jp-mlgpu-Graph-box")
    expect(boxes).to_have_count(12)
    expect(graph(lab).locator(".jp-mlgpu-Graph-box[data-kind=cpu]")).to_have_count(3)
    expect(graph(lab).locator(".jp-mlgpu-Graph-frame")).to_have_count(6)
    expect(drawn.get_by_role("table")).to_have_count(0)
    drawn.get_by_text("Falls back to the CPU", exact=True).click()
    expect(drawn.get_by_role("table", name="Falls back to the CPU")).to_contain_text(EINSUM)
    expect(drawn).to_contain_text("5,120 bytes in 5 tensors would be copied between host and device.")
    drawn.get_by_text("Copied between host and device", exact=True).click()
    expect(drawn.get_by_role("table", name="Copied between host and device")).to_contain_text("1,024")
    # No second drawing: the HTML is for viewers without our view.
    assert lab.cell(0).locator("img").count() == 0


def test_a_plan_for_cuda_says_so_first(lab: Lab) -> None:
    for_cuda = of_graph(FunctionGraph((chain(4),)), target("cuda"), "a model")
    lab.write_with_receipts("cuda.ipynb", shown(for_cuda))
    lab.open_without_kernel("cuda.ipynb")
    expect(figures(lab).locator("p").first).to_contain_text("Planned for CUDA: ")


def test_no_arrow_of_the_graph_crosses_a_box(lab: Lab) -> None:
    names = [f"n{place}" for place in range(24)]
    takes = [[names[at] for at in (place - 1, place - 3, place - 7) if at >= 0] for place in range(24)]
    kinds = ["Einsum" if place % 6 == 0 else "Relu" for place in range(24)]
    tangle = Body("main", tuple(node(*one[:2], *one[2]) for one in zip(names, kinds, takes, strict=True)))
    lab.write_with_receipts("tangle.ipynb", shown(plan(tangle)), shown(plan(chain(400))))
    lab.open_without_kernel("tangle.ipynb")
    expect(graph(lab).locator(".jp-mlgpu-Graph-box")).to_have_count(24)
    for drawn in figures(lab).all():
        found = drawn.locator(".jp-mlgpu-Graph-window > svg").evaluate(CROSSINGS)
        assert found["arrows"] > 10
        assert found["crossed"] == []


#: The arrows that run, as the browser draws them, through the inside of a box.
CROSSINGS = """svg => {
    const boxes = [...svg.querySelectorAll('.jp-mlgpu-Graph-box > rect')].map(one => one.getBBox());
    const arrows = [...svg.querySelectorAll('.jp-mlgpu-Graph-arrow')];
    const inside = ({x, y}) => boxes.some(box =>
        x > box.x + 1 && x < box.x + box.width - 1 && y > box.y + 1 && y < box.y + box.height - 1);
    return {
        arrows: arrows.length,
        crossed: arrows.filter(path => {
            for (let at = 0; at <= path.getTotalLength(); at += 2) {
                if (inside(path.getPointAtLength(at))) {
                    return true;
                }
            }
            return false;
        }).map(path => path.getAttribute('d'))
    };
}"""


LONG = "bert_encoder_layer_{}_attention"


def long_names() -> Plan:
    """Operations with names too long for their boxes, of wide and of narrow letters."""
    names = [*(LONG.format(layer) for layer in (10, 11)), "W" * 40, "il" * 30, "\u6ce8\u610f\u529b" * 10]
    kinds = ["ResourceApplyAdamWithAmsgrad", "FusedBatchNormGradV3", "M" * 30, "Einsum", "Relu"]
    takes = [[], *([name] for name in names[:-1])]
    nodes = (node(*one[:2], *one[2]) for one in zip(names, kinds, takes, strict=True))
    return plan(Body("main", tuple(nodes)))


#: The texts that reach out of their box, as the browser draws them.
OUTSIDE = """boxes => boxes.flatMap(box => {
    const { left, right } = box.querySelector(':scope > rect').getBoundingClientRect();
    return [...box.querySelectorAll('text')]
        .filter(text => {
            const place = text.getBoundingClientRect();
            return place.left < left || place.right > right;
        })
        .map(text => text.textContent);
})"""


def test_names_fit_their_boxes_and_are_whole_on_hover_and_in_the_table(lab: Lab) -> None:
    lab.write_with_receipts("long_names.ipynb", shown(long_names()))
    lab.open_without_kernel("long_names.ipynb")
    boxes = graph(lab).locator(".jp-mlgpu-Graph-box")
    expect(boxes).to_have_count(5)
    assert boxes.evaluate_all(OUTSIDE) == []
    expect(boxes.nth(1).locator("text").nth(1)).to_have_text(re.compile(r"^bert_\w*…\w*_11_attention$"))
    expect(boxes.nth(1).locator("title")).to_contain_text(f"FusedBatchNormGradV3, {LONG.format(11)}: ")
    figures(lab).first.get_by_text("The operations as a table").click()
    table = figures(lab).first.get_by_role("table", name="Graph of main")
    for name in ("ResourceApplyAdamWithAmsgrad", LONG.format(10), "il" * 30):
        expect(table).to_contain_text(name)


def test_names_fit_their_boxes_in_the_image_that_other_viewers_show(lab: Lab) -> None:
    image = re.search(r"data:image/svg\+xml;base64,([^\"]+)", long_names()._repr_html_())
    assert image is not None
    page = lab.page.context.new_page()
    page.set_content(base64.b64decode(image[1]).decode())
    boxes = page.locator("g:has(> rect)")
    expect(boxes).to_have_count(5)
    assert boxes.evaluate_all(OUTSIDE) == []
    expect(boxes.nth(1).locator("text").nth(1)).to_have_text(re.compile(r"^bert_\w*…\w*_11_attention$"))
    page.close()


def test_kinds_are_told_by_shape_and_word_as_well_as_by_colour(lab: Lab) -> None:
    lab.write_with_receipts("kinds.ipynb", shown(plan(chain(6))))
    lab.open_without_kernel("kinds.ipynb")
    shapes = (
        graph(lab)
        .locator(".jp-mlgpu-Graph-box .jp-mlgpu-Kind-mark")
        .evaluate_all("marks => marks.map(mark => [mark.dataset.kind, mark.getAttribute('d')].join())")
    )
    assert len(set(shapes)) == 2
    figures(lab).first.get_by_text("The operations as a table").click()
    rows = figures(lab).first.get_by_role("table", name="Graph of main").get_by_role("row")
    expect(rows).to_have_count(7)
    expect(rows.nth(1)).to_contain_text(f"Einsummain/0CPU{EINSUM}")
    expect(rows.nth(2)).to_contain_text("Relumain/1Metal")


def test_keys_move_and_size_the_graph_and_leave_the_notebooks_cell_alone(lab: Lab) -> None:
    lab.write_with_receipts("keys.ipynb", shown(plan(chain(40))), shown(plan(chain(3))))
    lab.open_without_kernel("keys.ipynb")
    graph(lab).focus()
    before, cell = width_of(lab), lab.active_cell()
    lab.page.keyboard.press("+")
    expect(graph(lab).locator("> svg")).not_to_have_attribute("width", str(before))
    assert width_of(lab) > before
    for key in ("ArrowRight", "ArrowDown"):
        lab.page.keyboard.press(key)
    lab.page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    lab.page.keyboard.press("0")
    lab.page.wait_for_function(
        "() => document.activeElement.scrollWidth <= document.activeElement.clientWidth + 1"
    )
    lab.page.keyboard.press("-")
    assert lab.active_cell() == cell
    expect(graph(lab)).to_be_focused()
    figures(lab).first.get_by_role("button", name="Larger").click()
    expect(figures(lab).first.get_by_role("button", name="All of it")).to_be_visible()


def test_a_large_graph_is_drawn_in_short_and_further_functions_can_be_chosen(lab: Lab) -> None:
    whole = plan(chain(150), chain(50, "step"))
    lab.write_with_receipts("large.ipynb", shown(whole), shown(plan(chain(400))))
    lab.open_without_kernel("large.ipynb")
    first, second = figures(lab).nth(0), figures(lab).nth(1)
    expect(first.locator(".jp-mlgpu-Graph-box")).to_have_count(150)
    first.get_by_role("combobox", name="Function").select_option(label="step (50)")
    expect(first.locator(".jp-mlgpu-Graph-box")).to_have_count(50)
    expect(second).to_contain_text("main: 38 of 400 operations, in 14 of 160 groups")
    expect(second.locator(".jp-mlgpu-Graph-box").first).to_contain_text("Einsum")
    first.get_by_role("combobox", name="Function").select_option(label="main (150)")
    expect(first.locator(".jp-mlgpu-Graph-box")).to_have_count(150)


@pytest.mark.slow
def test_the_sidebar_has_plans_only_where_there_are_any(lab: Lab) -> None:
    code = (
        "from jupyter_mlgpu.graphs.planning.forecast import of_graph\n"
        "from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph, Node\n"
        "from jupyter_mlgpu.graphs.planning.placing import target\n"
        "relu = Body('main', (Node('a', 'Relu', {'T': ('float32',)}),))\n"
        "of_graph(FunctionGraph((relu,)), target('metal'), 'mine')"
    )
    lab.write("live_plan.ipynb", "1 + 1", code, "del code")
    lab.open("live_plan.ipynb")
    expect(lab.sidebar.get_by_role("tab", name="Messages")).to_be_visible()
    opener = lab.sidebar.get_by_role("button", name="Open", exact=True)
    expect(opener).to_have_count(0)
    lab.run_to_end(1)
    expect(lab.sidebar.get_by_text("[1] mine, planned for Metal")).to_be_visible()
    region = lab.open_result().get_by_role("group", name="mine, planned for Metal")
    expect(region.locator(".jp-mlgpu-Graph-box")).to_have_count(1)
    expect(region).to_contain_text("Planned for a Mac: the only operation would run on the GPU.")
    lab.focus("live_plan.ipynb")
    lab.page.evaluate("() => { jupyterapp.shell.currentWidget.content.activeCellIndex = 0; }")
    lab.sidebar.get_by_role("button", name="Go to the cell").click()
    expect(lab.active).to_have_count(1)
    assert lab.active_cell() == 1
    lab.page.evaluate("() => jupyterapp.commands.execute('notebook:clear-all-cell-outputs')")
    expect(opener).to_have_count(0)
    expect(region).to_be_visible()


def test_of_several_plans_and_races_the_one_that_is_chosen_is_opened(lab: Lab) -> None:
    lab.write_with_receipts(
        "several.ipynb",
        shown(plan(chain(3), subject="first")),
        raced(race()),
        shown(plan(chain(4), subject="last")),
        bundle(example_record()),
    )
    lab.open_without_kernel("several.ipynb")
    expect(lab.open_result().get_by_role("group", name="last, planned for Metal")).to_be_visible()
    region = lab.open_result("[2] Race: x @ x").get_by_role("group", name="Race: x @ x")
    expect(region).to_contain_text("x @ x with PyTorch on cpu:0 (a CPU) against gpu:0, 11 runs each")
    expect(region.get_by_role("img")).to_have_count(1)
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    lab.show_sidebar()
    expect(lab.sidebar.get_by_role("combobox", name="Result to show")).to_have_value("cell-1/0")


def test_a_saved_race_is_one_chart_with_its_crossover_and_its_page_has_its_table(lab: Lab) -> None:
    lab.write_with_receipts("race.ipynb", raced(race()))
    lab.open_without_kernel("race.ipynb")
    drawn = figures(lab)
    chart = drawn.get_by_role("img", name="x @ x with PyTorch on cpu:0 (a CPU) against gpu:0, 11 runs each")
    expect(chart).to_be_visible()
    expect(chart.locator(".jp-mlgpu-Plot-marker")).to_have_count(6)
    expect(chart.locator(".jp-mlgpu-Plot-spread")).to_have_count(6)
    expect(chart.locator(".jp-mlgpu-Plot-rule")).to_have_count(1)
    expect(drawn).to_contain_text("gpu:0 faster from about n = 46")
    expect(drawn.locator("p").first).to_have_text(
        "gpu:0 is faster from n = 100 on: 10,000 times as fast at n = 1,000."
    )
    expect(drawn.get_by_role("table")).to_have_count(0)
    assert lab.cell(0).locator(".jp-OutputArea-output img, .js-plotly-plot").count() == 0
    shapes = chart.locator(".jp-mlgpu-Plot-marker").evaluate_all(
        "marks => marks.map(one => one.getAttribute('d'))"
    )
    assert len(set(shapes)) == 2
    page = lab.open_result()
    page.get_by_text("The figures as a table").click()
    rows = page.get_by_role("table").get_by_role("row")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_contain_text("1 µs (960 ns to 1.04 µs)")
    expect(rows.nth(3)).to_contain_text("gpu:0, 10,000 times")
    page.get_by_text("How to read these figures").click()
    expect(page).to_contain_text("The warm-up had not stabilized when it ended: gpu:0 at 10.")


def test_a_race_of_a_single_device_answers_about_sizes(lab: Lab) -> None:
    alone = replace(race(), lanes=race().lanes[:1])
    lab.write_with_receipts("alone.ipynb", raced(alone))
    lab.open_without_kernel("alone.ipynb")
    expect(figures(lab).locator("p").first).to_have_text(
        "From n=10 to n=1,000 it takes 1,000,000 times as long."
    )


def test_a_race_without_sizes_is_a_bar_a_device(lab: Lab) -> None:
    lab.write_with_receipts("bars.ipynb", raced(race(over=False)))
    lab.open_without_kernel("bars.ipynb")
    chart = figures(lab).get_by_role("img", name="x @ x with PyTorch on cpu:0 (a CPU) against gpu:0")
    expect(chart.locator("rect[data-mark=bar]")).to_have_count(2)
    expect(chart).to_contain_text("gpu:0")


def test_names_of_the_graph_and_of_the_race_are_text(lab: Lab) -> None:
    hostile = Body(MARKUP, (node(MARKUP, MARKUP),))
    lab.write_with_receipts("hostile.ipynb", shown(plan(hostile, subject=MARKUP)), raced(race(cell=MARKUP)))
    lab.open_without_kernel("hostile.ipynb")
    expect(figures(lab)).to_have_count(2)
    expect(figures(lab).first).to_contain_text(MARKUP[-40:])
    expect(lab.open_result().get_by_role("group", name="Race")).to_contain_text(MARKUP[:40])
    for place in (figures(lab).first, figures(lab).nth(1), lab.sidebar, lab.result):
        assert place.locator("img[src], script").count() == 0
    assert lab.page.evaluate("() => window.pwned") is None


def test_what_cannot_be_read_is_said_in_a_sentence(lab: Lab) -> None:
    newer = {**bundle_of(plan(chain(3)))[MIME_TYPE], "schema": 2}
    lab.write_with_receipts(
        "unreadable.ipynb",
        {MIME_TYPE: newer},
        {MIME_TYPE: {"schema": 1, "kind": "race", "parts": "none"}},
    )
    lab.open_without_kernel("unreadable.ipynb")
    expect(figures(lab).first).to_contain_text("made by a newer jupyter_mlgpu")
    expect(figures(lab).nth(1)).to_contain_text("This cannot be drawn")
    expect(lab.sidebar.get_by_role("button", name="Open", exact=True)).to_have_count(0)


def test_a_narrow_page_cuts_nothing_off(lab: Lab) -> None:
    long = "a_very_long_name_without_any_blank_" * 4
    lab.write_with_receipts("narrow.ipynb", shown(plan(chain(30), subject=long)), raced(race(cell=long)))
    lab.open_without_kernel("narrow.ipynb")
    for place in (0, 1):
        lab.sidebar.get_by_role("combobox", name="Result to show").select_option(index=place)
        page = lab.open_result()
        expect(page).to_have_count(1)
        expect(page.locator(".jp-mlgpu-Figure")).to_be_visible()
        for fold in page.locator("summary").all():
            fold.click()
        with lab.result_of(240):
            assert page.evaluate(TOO_WIDE) == []
    with lab.sidebar_of(240):
        assert lab.sidebar.locator(".jp-mlgpu-Results").evaluate(TOO_WIDE) == []


def test_a_result_that_is_run_again_is_shown_in_its_page_which_is_closed_with_the_notebook(
    lab: Lab,
) -> None:
    (lab.server.root / "result.json").write_text(json.dumps(raced(race(cell="first"))))
    code = (
        "import json\nresult = json.load(open('result.json'))\n"
        "if 'second' in str(result):\n    print('a message before it')\n"
        "display(result, raw=True)"
    )
    lab.write("again.ipynb", code)
    lab.open("again.ipynb")
    lab.run_to_end(0)
    opener = lab.sidebar.get_by_role("button", name="Open", exact=True)
    opener.press("Enter")
    page = lab.page.get_by_role("tabpanel", name="Race: first")
    expect(page).to_be_focused()
    expect(page.get_by_role("heading", name="Race: first")).to_be_visible()
    page.get_by_text("The figures as a table").press("Enter")
    opener.press("Enter")
    expect(lab.result).to_have_count(1)
    (lab.server.root / "result.json").write_text(json.dumps(raced(race(cell="second"))))
    lab.focus("again.ipynb")
    lab.run_to_end(0)
    page = lab.page.get_by_role("tabpanel", name="Race: second")
    expect(page.get_by_role("heading", name="Race: second")).to_be_visible()
    expect(page.get_by_role("table")).to_be_visible()
    expect(lab.page.locator(".lm-TabBar-tabLabel", has_text="Race: second")).to_be_visible()
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.dispose()")
    expect(lab.result).to_have_count(0)


def test_a_plan_s_names_stay_inside_their_boxes(lab: Lab) -> None:
    wide = Body("main", (node("W" * 40, "W" * 40), node("M" * 40, "Conv2DBackpropFilter")))
    lab.write_with_receipts("wide_names.ipynb", shown(plan(wide)))
    lab.open_without_kernel("wide_names.ipynb")
    boxes = graph(lab).locator(".jp-mlgpu-Graph-box")
    expect(boxes).to_have_count(2)
    assert boxes.evaluate_all("all => all.map(one => one.getBoundingClientRect().width)") != [0, 0]
    assert boxes.evaluate_all(PAST_ITS_BOX) == []


#: Names that are painted past the right edge of their box. An inner <svg> cuts off what it has no room for.
PAST_ITS_BOX = """boxes => boxes.flatMap(box => {
    const edge = box.querySelector('rect').getBoundingClientRect().right;
    return [...box.querySelectorAll('text')].filter(one => {
        const inner = one.ownerSVGElement;
        const cut = box.contains(inner) && getComputedStyle(inner).overflow !== 'visible';
        const end = inner.getScreenCTM().e + inner.width.baseVal.value * inner.getScreenCTM().a;
        return (cut ? end : one.getBoundingClientRect().right) > edge;
    }).map(one => one.textContent);
})"""


#: What sticks out of the sidebar's figure, but for what scrolls by itself.
TOO_WIDE = """panel => {
    const edge = panel.getBoundingClientRect().right + 1;
    return [...panel.querySelectorAll('*')]
        .filter(one => !one.closest('.jp-mlgpu-Graph-window, .jp-mlgpu-Figure-wide, svg'))
        .filter(one => one.getBoundingClientRect().right > edge)
        .map(one => `${one.tagName} ${one.className}`);
}"""


@pytest.mark.slow
def test_a_chinese_jupyterlab_shows_plans_and_races_in_chinese(lab: Lab, chinese: None) -> None:
    lab.write_with_receipts("chinese_plan.ipynb", shown(plan(chain(12))), raced(race()))
    lab.load("chinese_plan.ipynb")
    lab.page.get_by_role("dialog").get_by_role("button").first.click()
    lab.wait_for_notebook()
    expect(figures(lab).first).to_contain_text("没有运行任何东西")
    expect(figures(lab).nth(1)).to_contain_text("约从 n = 46 起 gpu:0 更快")


@pytest.mark.slow
def test_a_plan_of_the_size_that_is_kept_takes_little_of_the_notebook(lab: Lab) -> None:
    data = bundle_of(plan(chain(live.DRAWN)))
    lab.write_with_receipts("full.ipynb", data)
    lab.open_without_kernel("full.ipynb")
    expect(figures(lab).first.locator(".jp-mlgpu-Graph-box")).to_have_count(live.DRAWN)
    assert len(json.dumps(data, indent=1)) < 60_000
