"""axe-core finds nothing in any view that we draw, in JupyterLab's three themes, at a zoom of 200 %.

One page has all views, and is loaded once a language. The first theme is looked at with each change.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import BrowserContext

from tests.jupyter.lab.allviews import VIEWS, AllViews
from tests.jupyter.lab.conftest import Lab

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

    from tests.jupyter.lab.conftest import Server

AXE = Path(__file__).parents[3] / "labextension" / "node_modules" / "axe-core" / "axe.min.js"
THEMES = ("JupyterLab Light", "JupyterLab Dark", "JupyterLab Dark High Contrast")
#: What a window of 1280 by 800 is to its page at 200 %.
ZOOMED = {"width": 640, "height": 400, "deviceScaleFactor": 2, "mobile": False}


@pytest.fixture(scope="module", params=["english", pytest.param("chinese", marks=pytest.mark.slow)])
def views(
    request: pytest.FixtureRequest,
    context: BrowserContext,
    server: Server,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[AllViews]:
    """All views in a tab of their own, zoomed."""
    language = {"english": "default", "chinese": "zh_CN"}[request.param]
    server.change_setting("translation-extension/plugin", {"locale": language})
    page = context.new_page()
    made = AllViews(Lab(page, server), tmp_path_factory.mktemp("views") / "go")
    made.prepare()
    context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", ZOOMED)
    assert page.evaluate("() => [innerWidth, devicePixelRatio]") == [640, 2]
    page.add_script_tag(path=AXE)
    yield made
    page.close()
    server.change_setting("translation-extension/plugin", {"locale": "default"})
    server.end_kernels()


def use_theme(lab: Lab, theme: str) -> None:
    if lab.page.evaluate("() => document.body.dataset.jpThemeName") == theme:
        return
    lab.page.evaluate("theme => jupyterapp.commands.execute('apputils:change-theme', { theme })", theme)
    lab.page.wait_for_function("theme => document.body.dataset.jpThemeName === theme", arg=theme)


#: All rules that axe has by itself, for what is ours and for the dialogs in which we ask. The fields of the
#: Settings editor are JupyterLab's own, which gives them no labels; so is a cell that we mark. Ids that two
#: elements have are what axe leaves open.
VIOLATIONS = """async () => {
    const own = '[class*="jp-mlgpu-"]:not(.jp-Cell), .jp-Dialog-content, .jp-SettingsForm';
    const include = [...document.querySelectorAll(own)].filter(one => !one.parentElement.closest(own));
    const { violations, incomplete } = await axe.run(
        { include, exclude: ['.form-control'] },
        { resultTypes: ['violations', 'incomplete'] }
    );
    const found = [...violations, ...incomplete.filter(({ id }) => id === 'duplicate-id-aria')];
    return found.flatMap(({ id, nodes }) =>
        nodes.map(node => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 300)}`));
}"""

#: What axe does not look at: hints in empty fields, and the texts of charts. 4.5:1 is WCAG's for small text.
FAINT = """() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    const over = colors => {
        canvas.clearRect(0, 0, 1, 1);
        for (const color of colors) {
            canvas.fillStyle = color;
            canvas.fillRect(0, 0, 1, 1);
        }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = color => color
        .map(part => part / 255)
        .map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const behind = element => {
        const colors = [];
        for (let one = element; one; one = one.parentElement) {
            colors.unshift(getComputedStyle(one).backgroundColor);
        }
        return colors;
    };
    const texts = [
        ...[...document.querySelectorAll('.jp-mlgpu-Input[placeholder]')].map(one =>
            [one, getComputedStyle(one, '::placeholder').color, one.placeholder]),
        ...[...document.querySelectorAll('.jp-mlgpu-Plot text')].map(one =>
            [one, getComputedStyle(one).fill, one.textContent])
    ];
    return texts.flatMap(([element, color, text]) => {
        const [one, other] = [over([...behind(element), color]), over(behind(element))].map(light);
        const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        return ratio < 4.5 ? [`${ratio.toFixed(1)}:1 for ${text}`] : [];
    });
}"""


def slow(*names: str) -> list[ParameterSet]:
    return [pytest.param(name, marks=pytest.mark.slow) for name in names]


#: JupyterLab draws the settings of all that is installed, which takes seconds.
QUICK = [view for view in VIEWS if view != "settings"]


@pytest.mark.parametrize("view", [*QUICK, *slow("settings")])
@pytest.mark.parametrize("theme", [THEMES[0], *slow(*THEMES[1:])])
def test_axe_finds_nothing_and_small_text_can_be_read(views: AllViews, theme: str, view: str) -> None:
    use_theme(views.lab, theme)
    try:
        views.show(view)
        found = [*views.lab.page.evaluate(VIOLATIONS), *views.lab.page.evaluate(FAINT)]
    finally:
        views.leave()
    assert not found, "\n".join(dict.fromkeys(found))
