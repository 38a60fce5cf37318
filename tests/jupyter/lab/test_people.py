"""The sidebar, receipts and questions for everyone: languages, widths, zoom, keyboard, less motion.

Every tab that the sidebar has is looked at, and what opens from it: views that come later are in these tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab

LOAD = "%load_ext jupyter_mlgpu"

#: Records of every kind that the list tells apart, with lines of every verdict.
FILL = """
from msgspec.structs import replace
from jupyter_mlgpu.measure import runtime
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.jupyter.notebook.cell import receipts
from jupyter_mlgpu.testing import example_record, limited_record

def line(verdict, number):
    known = verdict != "unknown"
    return LogLine(
        f"2026-01-01 00:00:00: W tensorflow/core/common_runtime/gpu/gpu_device.cc:{number}] is {verdict}",
        f"a-{verdict}-message" if known else None, verdict, "What it means." if known else None,
        "What to do about it." if known else None, {}, 1 + number, "stderr", "2026-01-01T00:00:00.000000Z",
        number > 4,
    )

lines = tuple(map(line, ("fatal", "action", "performance", "info", "harmless", "unknown"), range(6)))
store = runtime.current().store
for number, changes in enumerate([
    {}, {"outcome": "error", "logs": lines}, {"outcome": "interrupted", "notes": ("A note of it.",)}, {}, {},
    {"origin": "loaded", "facts": {"gpu_name": Fact("Apple M1 Max", "log message metal-device-set")}},
]):
    name = f"history_{number} = model.fit(images_of_the_training_set, labels, epochs=10)"
    store.add(replace(example_record(number, name=name), **changes))
store.add(limited_record(6, confidence="likely"))
receipts.show(limited_record(6, confidence="likely"))
"""
WRITE = r"""import os; _ = os.write(2, b"Metal device set to: Apple M1 Max\n")"""
NEEDS_RESTART = """
from jupyter_mlgpu.record.errors import RestartNeededError
from jupyter_mlgpu.jupyter.notebook.magics.restart import show
show(RestartNeededError("It was read already.", "Restart by hand."))
"""
#: What a page writes under a cell in which the kernel has died.
DIED = """
from IPython.display import publish_display_data
from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit
from jupyter_mlgpu.jupyter.server.exits import output_of
from jupyter_mlgpu.record.sentence import say
died = KernelExit("exit", "sure", say("It died."), say("Look for `exit`."), here=say("It died here."))
publish_display_data(output_of(died, "en"))
"""


@pytest.fixture
def english() -> None:
    """The language that JupyterLab has by itself."""


@pytest.fixture(params=["english", pytest.param("chinese", marks=pytest.mark.slow)])
def scene(request: pytest.FixtureRequest, lab: Lab, gate: Gate) -> Iterator[Lab]:
    """A notebook with all that we show: receipts, a question, records, lines, and a cell that runs."""
    request.getfixturevalue(request.param)
    name = f"people_{request.param}.ipynb"
    lab.write(name, LOAD, FILL, WRITE, NEEDS_RESTART, gate.cell)
    lab.load(name)
    lab.wait_for_app()
    lab.show_sidebar()
    for index in range(4):
        lab.run_to_end(index)
    lab.run(4)
    lab.running.wait_for()
    for receipt in lab.receipts.all():
        receipt.get_by_role("button").first.click()
    lab.receipts.get_by_text("Evidence").or_(lab.receipts.get_by_text("依据")).first.click()
    yield lab
    lab.page.emulate_media(reduced_motion="no-preference")
    gate.open()
    lab.running.wait_for(state="hidden")


def views(lab: Lab) -> Iterator[str]:
    """Show every tab, then what its first row opens to; gives the name of what is in sight."""
    tabs = lab.sidebar.get_by_role("tab")
    for index in range(tabs.count()):
        tab = tabs.nth(index)
        tab.click()
        expect(tab).to_have_attribute("aria-selected", "true")
        settle(lab)
        name = tab.inner_text()
        yield name
        panel = lab.sidebar.get_by_role("tabpanel")
        closed = panel.locator("details:not([open]) > summary")
        while closed.count():  # one that is open is not among them any more
            before = closed.count()
            closed.first.click()
            expect(closed).to_have_count(before - 1)
        opening = panel.locator(".jp-mlgpu-Row .jp-mlgpu-Toggle").first
        if opening.count():
            opening.press("Enter")  # at 200 % two rows fit, and what floats above them may take a click
            settle(lab)
            yield f"{name}, opened"
            back = panel.locator(".jp-mlgpu-Page-head button").first
            if back.count():
                back.click()


def settle(lab: Lab) -> None:
    """Wait until what was asked for has been drawn and measured."""
    lab.page.evaluate(
        "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done())))"
    )


#: Pairs of texts of which one stands on the other, and texts that stand out of the sidebar.
COLLISIONS = """() => {
    const root = document.querySelector('#jupyter-mlgpu-sidebar');
    const seen = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode;
        if (!node.data.trim() || node.parentElement.closest('select, svg, .jp-mlgpu-Hidden')) continue;
        if (!node.parentElement.checkVisibility({ visibilityProperty: true })) continue;
        const range = document.createRange();
        range.selectNodeContents(node);
        for (const { left, top, right, bottom } of range.getClientRects()) {
            const box = { left, top, right, bottom };
            for (let one = node.parentElement; one !== root; one = one.parentElement) {
                const style = getComputedStyle(one);
                if (style.overflowX !== 'visible') {
                    const clip = one.getBoundingClientRect();
                    box.left = Math.max(box.left, clip.left);
                    box.right = Math.min(box.right, clip.right);
                    box.top = Math.max(box.top, clip.top);
                    box.bottom = Math.min(box.bottom, clip.bottom);
                }
            }
            if (box.right - box.left > 1 && box.bottom - box.top > 1) {
                seen.push({ ...box, text: node.data.trim().slice(0, 40), node });
            }
        }
    }
    const found = [];
    const { left, right } = root.getBoundingClientRect();
    for (const one of seen) {
        if (one.left < left - 1 || one.right > right + 1) found.push(`out of the sidebar: ${one.text}`);
    }
    for (let a = 0; a < seen.length; a++) {
        for (let b = a + 1; b < seen.length; b++) {
            const [one, other] = [seen[a], seen[b]];
            const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
            const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
            // Lines of a paragraph may touch.
            if (one.node !== other.node && width > 2 && height > 4) found.push(`${one.text} | ${other.text}`);
        }
    }
    for (const one of [root, ...root.querySelectorAll('.jp-mlgpu-Scroller, .jp-mlgpu-TabPanel')]) {
        if (one.scrollWidth > one.clientWidth + 1) found.push(`${one.className} is wider than its place`);
    }
    return [...new Set(found)];
}"""


def collisions(lab: Lab) -> str:
    found = [f"{view}: {one}" for view in views(lab) for one in lab.page.evaluate(COLLISIONS)]
    return "\n".join(found)


@pytest.mark.slow
def test_no_text_overlaps_where_the_sidebar_is_240_pixels_wide(scene: Lab) -> None:
    style = scene.page.add_style_tag(
        content="#jupyter-mlgpu-sidebar { width: 240px !important; min-width: 240px !important }"
    )
    settle(scene)
    box = scene.sidebar.bounding_box()
    assert box is not None
    assert box["width"] == 240
    try:
        assert collisions(scene) == ""
    finally:
        style.evaluate("style => style.remove()")


@pytest.mark.slow
def test_no_text_overlaps_at_200_percent_zoom(scene: Lab) -> None:
    session = scene.page.context.new_cdp_session(scene.page)
    zoomed = {"width": 640, "height": 400, "deviceScaleFactor": 2, "mobile": False}
    session.send("Emulation.setDeviceMetricsOverride", zoomed)
    try:
        assert collisions(scene) == ""
    finally:
        session.send("Emulation.clearDeviceMetricsOverride")


#: What a person can click and a keyboard cannot reach. Arrow keys move within lists, tabs and tables.
UNREACHABLE = """() => {
    const root = document.querySelector('#jupyter-mlgpu-sidebar');
    const control = 'button, a, select, input, textarea, summary, [role=tab], [role=button], [tabindex]';
    const roles = ['tablist', 'list', 'grid', 'toolbar', 'listbox', 'radiogroup'];
    const composite = roles.map(role => `[role=${role}]`).join();
    const found = [];
    for (const one of root.querySelectorAll('*')) {
        if (!one.checkVisibility() || one.closest('.jp-mlgpu-Hidden')) continue;
        if (one.matches(control)) {
            const group = one.closest(composite);
            const led = group?.querySelector('[tabindex="0"], button:not([tabindex="-1"])');
            if (one.tabIndex < 0 && !one.disabled && !led) found.push(one.outerHTML.slice(0, 120));
        } else if (getComputedStyle(one).cursor === 'pointer' && !one.closest(`${control}, label`)) {
            found.push(one.outerHTML.slice(0, 120));
        }
    }
    return found;
}"""


@pytest.mark.slow
def test_the_keyboard_reaches_everything_and_leaves_again(scene: Lab) -> None:
    for view in views(scene):
        assert scene.page.evaluate(UNREACHABLE) == [], view
        assert keys_walk_through(scene), f"{view}: the keyboard is caught"


def keys_walk_through(lab: Lab) -> bool:
    """Whether Tab, pressed often enough, leaves the sidebar, and each stop shows that it has the focus."""
    lab.sidebar.evaluate("node => node.focus()")
    stops = lab.sidebar.locator("button, a, select, input, summary, [tabindex='0']").count()
    for _ in range(stops + 3):
        lab.page.keyboard.press("Tab")
        inside, marked = lab.page.evaluate(
            """() => {
                const one = document.activeElement;
                const { outlineStyle, boxShadow } = getComputedStyle(one);
                const inside = one.closest('#jupyter-mlgpu-sidebar') !== null;
                return [inside, outlineStyle !== 'none' || boxShadow !== 'none'];
            }"""
        )
        if not inside:
            return True
        assert marked, lab.page.evaluate("() => document.activeElement.outerHTML.slice(0, 160)")
    return False


#: Our elements that move.
MOVING = """() => [...document.querySelectorAll('[class*="jp-mlgpu-"]')].flatMap(one =>
    ['', '::before', '::after'].flatMap(part => {
        const { animationName, transitionDuration } = getComputedStyle(one, part || null);
        const changes = transitionDuration.split(', ').some(time => parseFloat(time) > 0);
        return animationName !== 'none' || changes ? [`${one.className}${part}`] : [];
    }))"""


@pytest.mark.slow
def test_nothing_moves_where_the_user_wants_less_motion(scene: Lab) -> None:
    assert scene.page.evaluate(MOVING) != [], "the mark of the running cell moves where nobody minds"
    scene.page.emulate_media(reduced_motion="reduce")
    for view in views(scene):
        assert scene.page.evaluate(MOVING) == [], view
