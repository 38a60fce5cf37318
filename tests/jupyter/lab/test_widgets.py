"""The controls for notebooks without our sidebar: in JupyterLab, and in pages that are not JupyterLab.

VS Code and Colab themselves are not run here. The pages below stand for them: they have no theme of
JupyterLab, and the variables and classes that VS Code documents, or Colab's attribute for a dark page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from jupyter_mlgpu.jupyter.notebook.browser.widgets import SCRIPT
from jupyter_mlgpu.record.decoding import to_json
from jupyter_mlgpu.show.receipts import view as receipt_view
from jupyter_mlgpu.testing import example_record

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab

LOAD = "%load_ext jupyter_mlgpu"
PICKER = "import jupyter_mlgpu\njupyter_mlgpu.DevicePicker()"
VIEW = "import jupyter_mlgpu\njupyter_mlgpu.TraceView()"
NEXT_CELLS = "Device for the next cells"
LIVE = re.compile(r"^\d+\.\d s · [\d.]+ cores? · [\d.]+ [MG]iB")
HOSTILE = "x = '<img src=x onerror=\"window.hacked = true\"><b>bold</b>'"


def picker(lab: Lab) -> Locator:
    return lab.page.locator(".jp-OutputArea .jp-mlgpu-Picker")


def view(lab: Lab) -> Locator:
    return lab.page.locator(".jp-OutputArea .jp-mlgpu-Trace")


def live_line(where: Locator | Page) -> Locator:
    return where.get_by_role("timer", name="The running cell now")


def begin(lab: Lab, name: str, *cells: str) -> None:
    """A notebook with the extension loaded by its first cell."""
    lab.write(name, LOAD, *cells)
    lab.open(name)
    lab.run_to_end(0)


def test_a_choice_in_the_picker_changes_the_device_of_the_cells_to_come(lab: Lab) -> None:
    begin(lab, "picker.ipynb", PICKER, "%mlc_device")
    lab.run_to_end(1)
    picker(lab).get_by_label(NEXT_CELLS).select_option("cpu")
    expect(picker(lab).get_by_role("status")).to_have_text(
        "Cells will run on cpu once a framework is imported."
    )
    expect(picker(lab).get_by_label(NEXT_CELLS)).to_have_value("cpu")
    lab.run_to_end(2)
    expect(lab.cell(2)).to_contain_text("Requested device: cpu.")


@pytest.mark.slow
def test_the_picker_shows_what_a_magic_chose(lab: Lab) -> None:
    begin(lab, "magic.ipynb", PICKER, "%mlc_device cpu")
    lab.run_to_end(1)
    expect(picker(lab).get_by_label(NEXT_CELLS)).to_have_value("auto")
    lab.run_to_end(2)
    expect(picker(lab).get_by_label(NEXT_CELLS)).to_have_value("cpu")


@pytest.mark.slow
def test_a_choice_while_a_cell_runs_says_that_it_waits_and_holds_afterwards(lab: Lab, gate: Gate) -> None:
    begin(lab, "busy_picker.ipynb", PICKER, gate.cell, "%mlc_device")
    lab.run_to_end(1)
    lab.run(2)
    expect(lab.records).to_have_count(1)
    picker(lab).get_by_label(NEXT_CELLS).select_option("cpu")
    expect(picker(lab).get_by_role("status")).to_contain_text("Asked the kernel for cpu.")
    gate.open()
    expect(picker(lab).get_by_role("status")).to_contain_text("Cells will run on cpu")
    lab.run_to_end(3)
    expect(lab.cell(3)).to_contain_text("Requested device: cpu.")


def test_a_new_record_comes_into_the_view_and_opens_to_every_reading(lab: Lab) -> None:
    begin(lab, "view.ipynb", VIEW, "a = 1", "1 / 0")
    for index in range(1, 4):
        lab.run_to_end(index)
    expect(view(lab).locator(".jp-mlgpu-Name")).to_have_text(["1 / 0", "a = 1", "jupyter_mlgpu.TraceView()"])
    newest = view(lab).get_by_role("listitem").first
    expect(newest.get_by_role("img", name="error")).to_be_visible()
    newest.get_by_role("button").click()
    expect(newest.get_by_role("table", name="Readings")).to_contain_text("time.perf_counter_ns")


@pytest.mark.slow
def test_what_a_cell_measures_inside_itself_is_shown_while_it_runs(lab: Lab, gate: Gate) -> None:
    block = "with jupyter_mlgpu.trace('first step'):\n    pass\n"
    begin(lab, "inside.ipynb", VIEW, block + gate.cell)
    lab.run_to_end(1)
    lab.run(2)
    expect(view(lab).locator("li .jp-mlgpu-Name").first).to_have_text("first step")
    expect(lab.cell(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    gate.open()
    expect(view(lab).locator("li .jp-mlgpu-Name").first).to_contain_text("while not pathlib.Path")


def test_the_running_cell_has_a_live_line_in_the_view_until_it_ends(lab: Lab, gate: Gate) -> None:
    begin(lab, "live_view.ipynb", VIEW, gate.cell)
    lab.run_to_end(1)
    lab.run(2)
    expect(live_line(view(lab))).to_have_text(LIVE)
    expect(view(lab).get_by_role("region", name="Running")).to_contain_text("[*] while not pathlib.Path")
    before = live_line(view(lab)).inner_text()
    expect(live_line(view(lab))).not_to_have_text(before)
    gate.open()
    expect(view(lab).locator("li .jp-mlgpu-Name").first).to_contain_text("while not pathlib.Path")
    expect(live_line(view(lab))).to_have_count(0)


@pytest.mark.slow
def test_a_control_made_twice_is_one_and_both_places_follow_it(lab: Lab) -> None:
    begin(lab, "twice.ipynb", VIEW, VIEW, "b = 2")
    for index in range(1, 4):
        lab.run_to_end(index)
    expect(view(lab)).to_have_count(2)
    for place in view(lab).all():
        expect(place.locator(".jp-mlgpu-Name").first).to_have_text("b = 2")


@pytest.mark.slow
def test_a_reload_brings_the_controls_back_with_what_the_kernel_has(lab: Lab) -> None:
    begin(lab, "reload_widgets.ipynb", VIEW, "c = 3")
    lab.run_to_end(1)
    lab.run_to_end(2)
    expect(view(lab).locator(".jp-mlgpu-Name").first).to_have_text("c = 3")
    lab.save()
    lab.reload()
    lab.wait_for_app()
    expect(view(lab).locator(".jp-mlgpu-Name").first).to_have_text("c = 3")


@pytest.mark.slow
def test_names_that_look_like_markup_are_text(lab: Lab) -> None:
    begin(lab, "hostile.ipynb", VIEW, HOSTILE)
    lab.run_to_end(1)
    lab.run_to_end(2)
    expect(view(lab).locator(".jp-mlgpu-Name").first).to_have_text(HOSTILE)
    assert view(lab).locator("img[src], b").count() == 0
    assert lab.page.evaluate("() => window.hacked") is None


@pytest.mark.slow
def test_the_controls_speak_jupyterlab_s_language(new_tab: Callable[[], Lab], chinese: None) -> None:
    lab = new_tab()
    lab.write("chinese_widgets.ipynb", LOAD, PICKER)
    lab.load("chinese_widgets.ipynb")
    lab.wait_for_app()
    lab.run_to_end(0)
    lab.run_to_end(1)
    picker(lab).get_by_label("后续单元格的设备").select_option("cpu")
    # A sentence of the kernel, whose Chinese the kernel brings.
    expect(picker(lab).get_by_role("status")).to_contain_text("在 cpu 上运行。")


@pytest.mark.slow
def test_a_control_whose_extension_was_unloaded_says_so(lab: Lab) -> None:
    begin(lab, "unloaded.ipynb", PICKER, "%unload_ext jupyter_mlgpu")
    lab.run_to_end(1)
    lab.run_to_end(2)
    expect(picker(lab).get_by_role("status")).to_contain_text("The extension was unloaded")
    expect(picker(lab).get_by_label(NEXT_CELLS)).to_be_disabled()


# -- pages that are not JupyterLab ----------------------------------------------------------------

ADDRESS = "http://notebook.test/"

#: A model as anywidget hands it over, and as much of a page as a control needs.
HOST = """
import widget from './widgets.js';
const traits = %s;
const heard = new Map();
window.sent = [];
window.set = (name, value) => {
    traits[name] = value;
    (heard.get(`change:${name}`) ?? []).forEach(one => one());
};
window.tell = content => (heard.get('msg:custom') ?? []).forEach(one => one(content, []));
const model = {
    get: name => traits[name],
    on: (event, one) => heard.set(event, [...(heard.get(event) ?? []), one]),
    off: (event, one) => heard.set(event, (heard.get(event) ?? []).filter(other => other !== one)),
    send: content => window.sent.push(content)
};
window.remove = widget.render({ model, el: document.getElementById('output') });
"""

#: As VS Code's own themes Dark Modern and Light Modern set them.
VSCODE_DARK = {
    "--vscode-editor-background": "#1f1f1f",
    "--vscode-editor-foreground": "#cccccc",
    "--vscode-descriptionForeground": "#9d9d9d",
    "--vscode-editorWidget-background": "#202020",
    "--vscode-list-inactiveSelectionBackground": "#37373d",
}
VSCODE_LIGHT = {
    "--vscode-editor-background": "#ffffff",
    "--vscode-editor-foreground": "#3b3b3b",
    "--vscode-descriptionForeground": "#3b3b3b",
    "--vscode-editorWidget-background": "#f8f8f8",
    "--vscode-list-inactiveSelectionBackground": "#e4e6f1",
}

PAGES = {
    "a plain light page": ("light", {}, {}),
    "a plain dark page": ("dark", {}, {}),
    "Colab, dark on a light machine": ("light", {"html": {"theme": "dark"}}, {}),
    "VS Code, dark on a light machine": ("light", {"body": {"class": "vscode-dark"}}, VSCODE_DARK),
    "VS Code, light on a dark machine": ("dark", {"body": {"class": "vscode-light"}}, VSCODE_LIGHT),
}

_SHOWN = example_record(name="<b>model.fit(x)</b>")
RUNNING = {"cell": to_json(_SHOWN.cell), "elapsed_s": 12.0, "mode": "light", "run": None, "progress": None}
COUNTERS = {
    "series": [
        {"device": "process", "quantity": "utilisation", "unit": "cores"},
        {"device": "GPU 0 (NVIDIA H200)", "quantity": "utilisation", "unit": "share"},
    ],
    "values": [2.04, 0.94],
}
RECORD = {**_SHOWN.to_json(), "open": to_json(receipt_view.data(_SHOWN), texts=False)}
TRACE = {"shows": "records", "language": "", "ended": False, "newest": [RECORD], "older": 3}
DEVICES: dict[str, Any] = {
    "shows": "devices",
    "language": "",
    "ended": False,
    "heard": 0,
    "device": {
        "requested": {"torch": "cpu:0", "jax": "gpu:0"},
        "frameworks": [{"name": "torch", "versions": {}}, {"name": "jax", "versions": {}}],
        "pickers": [
            {
                "framework": framework,
                "chosen": words[-1],
                "words": [{"word": one, "about": None} for one in ("auto", *words)],
                "missing": missing,
            }
            for framework, words, missing in (
                ("torch", ("cpu:0",), ["PyTorch is a CPU-only build."]),
                ("jax", ("cpu:0", "gpu:1", "gpu:0"), []),
            )
        ],
    },
    "choices": {"device": None, "trace": None, "said": None},
}


@pytest.fixture
def show(chromium: Browser) -> Iterator[Callable[..., Page]]:
    """Shows a control in a page of its own."""
    contexts = []

    def open_page(
        traits: dict[str, Any], scheme: str = "light", attributes: Any = None, variables: Any = None
    ) -> Page:
        context = chromium.new_context(color_scheme=scheme, locale="en-GB")  # type: ignore[arg-type]
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        written = {
            tag: " ".join(f'{name}="{value}"' for name, value in (attributes or {}).get(tag, {}).items())
            for tag in ("html", "body")
        }
        style = ";".join(f"{name}:{value}" for name, value in (variables or {}).items())
        html = (
            f"<!doctype html><html {written['html']}><style>:root{{{style}}}</style><body {written['body']}>"
            f'<div id="output"></div><script type="module">{HOST % json.dumps(traits)}</script>'
        )
        page.route(f"{ADDRESS}**", lambda route: route.fulfill(body=html, content_type="text/html"))
        page.route(
            f"{ADDRESS}widgets.js",
            lambda route: route.fulfill(body=SCRIPT.read_text(), content_type="text/javascript"),
        )
        page.goto(ADDRESS)
        return page

    yield open_page
    for context in contexts:
        context.close()


#: The colours of an element and of the nearest background behind it, as red, green and blue.
COLOURS = """element => {
    const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const read = colour => {
        context.clearRect(0, 0, 1, 1);
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    let behind = element;
    while (behind && read(getComputedStyle(behind).backgroundColor)[3] === 0) {
        behind = behind.parentElement;
    }
    return [read(getComputedStyle(element).color), read(getComputedStyle(behind).backgroundColor)];
}"""


def contrast(element: Locator) -> float:
    """WCAG 2.1's contrast ratio of a text to what is behind it."""

    def luminance(colour: list[int]) -> float:
        parts = [one / 255 for one in colour[:3]]
        linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    text, ground = element.evaluate(COLOURS)
    assert text[3] == ground[3] == 255
    darker, lighter = sorted((luminance(text), luminance(ground)))
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("where", PAGES)
def test_texts_can_be_read_where_there_is_no_theme_of_jupyterlab(
    show: Callable[..., Page], where: str
) -> None:
    page = show(DEVICES, *PAGES[where])
    texts = [
        page.get_by_text("Device, JAX"),
        page.get_by_label("Device, JAX"),
        page.get_by_text("PyTorch is a CPU-only build."),
    ]
    page = show(TRACE, *PAGES[where])
    page.get_by_role("listitem").get_by_role("button").click()
    texts += [page.get_by_role("heading"), page.get_by_text("Wall time").first, page.get_by_text("3").last]
    for text in texts:
        expect(text).to_be_visible()
        assert contrast(text) >= 4.5, text


def test_frameworks_have_a_list_each_of_their_devices(show: Callable[..., Page]) -> None:
    page = show(DEVICES)
    expect(page.get_by_role("combobox")).to_have_count(2)
    expect(page.get_by_label("Device, PyTorch")).to_have_value("cpu:0")
    expect(page.get_by_label("Device, JAX").get_by_role("option")).to_have_text(
        ["Automatic", "cpu:0", "gpu:1", "gpu:0"]
    )
    page.get_by_label("Device, JAX").select_option("gpu:1")
    assert page.evaluate("window.sent") == [{"word": "gpu:1", "framework": "jax"}]


def test_a_restart_that_is_needed_is_said_with_how_to_do_it(show: Callable[..., Page]) -> None:
    page = show(DEVICES)
    page.get_by_label("Device, JAX").select_option("gpu:1")
    expect(page.get_by_role("status")).to_contain_text("Asked the kernel for gpu:1.")
    restart = {"sentence": "JAX was told to hide it.", "by_hand": "Restart the kernel.", "verbose": None}
    said = {"sentence": "There is no device gpu:1 here.", "refused": True, "restart": restart}
    page.evaluate("said => window.set('choices', { device: null, said })", said)
    page.evaluate("() => window.set('heard', 1)")
    expect(page.get_by_role("status")).to_have_text("There is no device gpu:1 here.")
    expect(page.locator(".jp-mlgpu-Restart")).to_contain_text("JAX was told to hide it.")
    expect(page.locator(".jp-mlgpu-Restart")).to_contain_text("Restart the kernel.")


@pytest.mark.parametrize(
    "rubbish",
    [
        None,
        *(pytest.param(one, marks=pytest.mark.slow) for one in (7, "text", [[]])),
        {"frameworks": [None, {"name": {}}]},
    ],
)
def test_a_state_that_makes_no_sense_costs_only_itself(show: Callable[..., Page], rubbish: Any) -> None:
    problems: list[str] = []
    page = show(DEVICES)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.evaluate("what => ['device', 'choices', 'heard'].forEach(one => window.set(one, what))", rubbish)
    expect(page.get_by_label(NEXT_CELLS)).to_be_visible()
    page = show(TRACE)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.evaluate("what => ['newest', 'older'].forEach(one => window.set(one, what))", rubbish)
    expect(page.get_by_text("No receipts yet.")).to_be_visible()
    assert problems == []


@pytest.mark.slow
def test_a_control_that_is_taken_off_the_page_leaves_nothing_there(show: Callable[..., Page]) -> None:
    page = show(TRACE)
    expect(page.get_by_role("listitem")).to_contain_text("<b>model.fit(x)</b>")
    page.evaluate("() => window.remove()")
    expect(page.locator("#output")).to_be_empty()


def test_a_kernel_that_tells_no_more_of_the_running_cell_does_not_look_alive(
    show: Callable[..., Page],
) -> None:
    page = show(TRACE)
    page.evaluate("live => window.tell({ live })", {"running": RUNNING, "counters": COUNTERS})
    expect(live_line(page)).to_have_text(re.compile(r"^1[2-4]\.\d s · 2\.0 cores · gpu:0 94 %$"))
    expect(page.get_by_role("region", name="Running")).to_contain_text("[*] <b>model.fit(x)</b>")
    expect(live_line(page)).to_have_text(re.compile(r"^12\.0 s · no news from the kernel for \d+ s$"))
    page.evaluate("live => window.tell({ live })", {"running": {**RUNNING, "elapsed_s": 30}})
    expect(live_line(page)).to_have_text(re.compile(r"^3[0-4]\.\d s$"))
    page.evaluate("() => window.tell({ live: null })")
    expect(live_line(page)).to_have_count(0)


@pytest.mark.parametrize("rubbish", [None, 7, "live", {"live": 7}, {"live": {"running": {"cell": []}}}])
def test_a_message_that_makes_no_sense_shows_no_running_cell(show: Callable[..., Page], rubbish: Any) -> None:
    problems: list[str] = []
    page = show(TRACE)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.evaluate("what => window.tell(what)", rubbish)
    page.evaluate("() => window.set('older', 4)")
    expect(page.get_by_text("Older receipts not shown: 4")).to_be_visible()
    expect(live_line(page)).to_have_count(0)
    assert problems == []
