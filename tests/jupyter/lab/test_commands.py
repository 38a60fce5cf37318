"""Commands and settings: the palette, the menu, the toolbar, the status bar, shortcuts, and what is set."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, WebSocket, expect

from jupyter_mlgpu.record.files import load_records
from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record
from tests.jupyter.lab.test_now import FAKE_TORCH
from tests.jupyter.lab.test_plans import race, raced

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab, Server

LOAD = "%load_ext jupyter_mlgpu"
MARK = {"jupyter_mlgpu": {"trace": True}}
NAMES = {
    "open": "Show the Receipts",
    "show-now": "Show What the Hardware Is Doing Now",
    "show-record": "Show the Receipt of This Cell",
    "choose-device": "Choose a Device…",
    "trace": "Trace This Notebook",
    "trace-when-opened": "Always Trace This Notebook",
    "save-records": "Save Receipts…",
    "open-lessons": "Open the Lessons",
    "restart-and-run-to-here": "Restart the Kernel and Run All Cells Up to Here…",
}


def execute(lab: Lab, command: str) -> None:
    """Run one of our commands, without waiting for the answers to what it asks."""
    lab.page.evaluate("id => void jupyterapp.commands.execute(id)", f"jupyter-mlgpu:{command}")


def notice(lab: Lab) -> Locator:
    """What JupyterLab tells in a corner of the page."""
    return lab.page.locator(".Toastify__toast")


@pytest.fixture(autouse=True)
def no_notices(lab: Lab) -> Iterator[None]:
    """Close what a test has left in the corner."""
    yield
    for name in notice(lab).evaluate_all("all => all.map(one => one.id)"):
        lab.page.evaluate("id => jupyterapp.commands.execute('apputils:dismiss-notification', { id })", name)
    expect(notice(lab)).to_have_count(0)


def tab(lab: Lab, name: str) -> Locator:
    return lab.sidebar.get_by_role("tab", name=name)


def tracing_button(lab: Lab) -> Locator:
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-TracingButton button")


def status(lab: Lab) -> Locator:
    return lab.page.locator(".jp-mlgpu-StatusItem button")


def write_marked(lab: Lab, name: str, *codes: str, kernel: str = "python3") -> None:
    """A notebook that asks to be traced when it opens, as a stranger may send it: nobody has signed it."""
    path = lab.write(name, *codes, kernel=kernel)
    notebook = json.loads(path.read_text())
    notebook["metadata"] |= MARK
    path.write_text(json.dumps(notebook))


@pytest.fixture
def preferences(lab: Lab, server: Server) -> Iterator[Any]:
    """Writes our settings; pages loaded from then on follow them. The next test begins with the defaults."""

    def write(**values: Any) -> None:
        server.change_setting("sidebar", values, package="jupyter-mlgpu")

    yield write
    write()
    lab.page.goto("about:blank")


# -- where commands are found -------------------------------------------------------------------------


def test_each_command_says_what_it_is_called_and_what_it_does(lab: Lab) -> None:
    lab.write("named.ipynb", "1")
    lab.open("named.ipynb")
    for command, name in NAMES.items():
        label, caption, usage = lab.page.evaluate(
            "id => ['label', 'caption', 'usage'].map(what => jupyterapp.commands[what](id))",
            f"jupyter-mlgpu:{command}",
        )
        assert label == name
        assert re.fullmatch(r"[A-Z].*\.", caption), command
        assert re.fullmatch(r"[A-Z].*\.", usage), command


def test_the_palette_lists_every_command(lab: Lab) -> None:
    lab.write("palette.ipynb", LOAD)
    lab.open("palette.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("No receipts yet")
    # The palette lists what is enabled: this is so when the kernel has told which devices there are.
    lab.page.wait_for_function("() => jupyterapp.commands.isEnabled('jupyter-mlgpu:choose-device')")
    lab.page.evaluate("() => jupyterapp.commands.execute('apputils:activate-command-palette')")
    palette = lab.page.locator("#command-palette")
    for words in ("mlgpu", "tracing", "receipt", "gpu"):
        palette.locator("input").fill(words)
        for name in NAMES.values():
            expect(palette.get_by_text(name, exact=True)).to_be_visible()
    palette.locator("input").fill("hardware")
    shown = palette.locator(".lm-CommandPalette-itemLabel").first
    expect(shown).to_have_text(NAMES["show-now"])
    lab.page.keyboard.press("Escape")


def test_the_menu_of_the_kernel_has_them_all_in_a_submenu(lab: Lab) -> None:
    lab.write("menu.ipynb", "1")
    lab.open("menu.ipynb")
    lab.page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").click()
    lab.page.locator("#jp-mainmenu-kernel").get_by_text("Tracing and Receipts (mlgpu)").hover()
    menu = lab.page.locator("#jp-mainmenu-jupyter-mlgpu")
    for name in NAMES.values():
        expect(menu.get_by_text(name, exact=True)).to_be_visible()
    menu.locator(".lm-Menu-itemLabel", has_text=NAMES["show-now"]).click()
    expect(tab(lab, "Now")).to_have_attribute("aria-selected", "true")


def test_no_shortcut_of_ours_is_in_the_way_of_another(lab: Lab) -> None:
    lab.write("keys.ipynb", "1")
    lab.open("keys.ipynb")
    lab.cell(0).click()
    lab.page.keyboard.press("Escape")
    ours, theirs = lab.page.evaluate(
        """() => {
            const reaches = selector => {
                for (let node = document.activeElement; node; node = node.parentElement) {
                    if (node.matches(selector)) return true;
                }
                return false;
            };
            const here = jupyterapp.commands.keyBindings.filter(({ selector }) => reaches(selector));
            const keys = wanted => here
                .filter(({ command }) => command.startsWith('jupyter-mlgpu:') === wanted)
                .map(({ keys }) => keys);
            return [keys(true), keys(false)];
        }"""
    )
    assert sorted(ours) == [["H", "D"], ["H", "H"], ["H", "R"], ["H", "T"]]
    assert len(theirs) > 50
    # One begins as the other does: whoever types the shorter would wait, or get the wrong one.
    assert [keys for keys in theirs if keys[0] == "H"] == []


def test_a_shortcut_opens_the_sidebar_from_the_notebook_and_types_in_a_cell(lab: Lab) -> None:
    lab.write("press.ipynb", "")
    lab.open("press.ipynb")
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.sidebar).to_be_hidden()
    lab.cell(0).locator(".cm-content").click()
    lab.page.keyboard.type("hh")
    expect(lab.cell(0).locator(".cm-content")).to_have_text("hh")
    expect(lab.sidebar).to_be_hidden()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("h")
    lab.page.keyboard.press("h")
    expect(lab.sidebar).to_be_visible()
    expect(lab.sidebar).to_be_focused()


# -- what commands do ---------------------------------------------------------------------------------


def test_the_context_menu_of_a_cell_shows_its_record(lab: Lab) -> None:
    lab.write("record.ipynb", LOAD, "first = 1", "second = 2")
    lab.open("record.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    lab.cell(1).locator(".jp-InputArea-editor").click(button="right")
    lab.page.locator(".lm-Menu-itemLabel", has_text=NAMES["show-record"]).click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    expect(page).to_contain_text("first = 1")


@pytest.mark.slow
def test_the_record_of_a_cell_is_its_last_run_and_found_while_the_sidebar_is_closed(lab: Lab) -> None:
    lab.write("last.ipynb", LOAD, "import itertools; count = itertools.count()", "next(count)")
    lab.open("last.ipynb")
    for index in (0, 1, 2, 2):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(3)
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    execute(lab, "show-record")
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    expect(page).to_contain_text("[4]")


@pytest.mark.slow
def test_a_cell_that_was_not_run_has_no_record_to_show(lab: Lab) -> None:
    lab.write("without.ipynb", "1")
    lab.open("without.ipynb")
    execute(lab, "show-record")
    expect(notice(lab)).to_contain_text("This cell has no receipt")


def test_records_are_saved_while_a_cell_runs_where_the_dialog_says(lab: Lab, gate: Gate) -> None:
    lab.write("saves.ipynb", LOAD, "a = 1", gate.cell)
    lab.open("saves.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.run(2)
    lab.running.wait_for()
    execute(lab, "save-records")
    dialog = lab.page.get_by_role("dialog")
    name = dialog.get_by_role("textbox")
    expect(name).to_have_value("saves.records.jsonl")
    name.fill("kept/here.jsonl")
    dialog.get_by_role("button", name="Save").click()
    expect(notice(lab)).to_contain_text("Saved 1 record to kept/here.jsonl.")
    records, problems = load_records(lab.server.root / "kept" / "here.jsonl")
    assert [record.cell.name for record in records] == ["a = 1"]
    assert problems == []


@pytest.mark.slow
def test_records_that_cannot_be_saved_there_leave_a_sentence(lab: Lab) -> None:
    (lab.server.root / "in-the-way").mkdir(exist_ok=True)
    lab.write("refused.ipynb", LOAD)
    lab.open("refused.ipynb")
    lab.run_to_end(0)
    expect(lab.sidebar).to_contain_text("No receipts yet")
    execute(lab, "save-records")
    lab.page.get_by_role("dialog").get_by_role("textbox").fill("in-the-way")
    lab.page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(lab.page.get_by_role("dialog")).to_contain_text("in-the-way")
    expect(lab.page.get_by_role("dialog")).to_contain_text("cannot be written")
    lab.page.get_by_role("dialog").locator(".jp-Dialog-button").click()


def test_tracing_is_turned_on_where_nothing_was_loaded_and_off_again(lab: Lab) -> None:
    lab.write("toggled.ipynb", "a = 1", "b = 2")
    lab.open("toggled.ipynb")
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    execute(lab, "trace")
    expect(status(lab)).to_contain_text("CPU · idle")
    lab.run_to_end(0)
    expect(lab.records).to_have_count(1)
    # The receipt may be there before the kernel has told that cells are traced: then the command begins.
    lab.page.wait_for_function("() => jupyterapp.commands.isToggled('jupyter-mlgpu:trace')")
    execute(lab, "trace")
    expect(status(lab)).to_contain_text("Tracing: off")
    lab.run_to_end(1)
    expect(lab.records).to_have_count(1)


def test_a_device_is_chosen_in_a_dialog(lab: Lab) -> None:
    lab.write("device.ipynb", LOAD, "a = 1")
    lab.open("device.ipynb")
    lab.run_to_end(0)
    # Enabled as soon as the kernel has told which devices there are.
    lab.page.wait_for_function("() => jupyterapp.commands.isEnabled('jupyter-mlgpu:choose-device')")
    execute(lab, "choose-device")
    dialog = lab.page.get_by_role("dialog")
    expect(dialog).to_contain_text("device.ipynb")
    dialog.get_by_role("combobox").select_option("cpu")
    dialog.get_by_role("button", name="Choose").click()
    expect(tracing_button(lab)).to_have_attribute("title", re.compile("^New work goes to: cpu"))
    expect(tab(lab, "Now")).to_have_attribute("aria-selected", "true")


# -- the toolbar and the status bar -------------------------------------------------------------------


def test_the_toolbar_says_that_the_notebook_is_traced_and_on_which_device(lab: Lab) -> None:
    framework = FAKE_TORCH.format(devices=("cpu:0", "gpu:0"), hidden=None)
    gpu = f"{framework}\nget_ipython().run_line_magic('mlc_device', 'gpu')"
    lab.write("toolbar.ipynb", LOAD, gpu, "%mlc_device cpu", "a = 1")
    lab.open("toolbar.ipynb")
    expect(tracing_button(lab)).to_have_accessible_name("Start tracing")
    lab.run_to_end(0)
    expect(tracing_button(lab)).to_have_accessible_name("Tracing · CPU")
    expect(tracing_button(lab)).to_contain_text("●")
    lab.run_to_end(1)
    expect(tracing_button(lab)).to_have_accessible_name("Tracing · GPU")
    lab.run_to_end(2)
    expect(tracing_button(lab)).to_have_accessible_name("Tracing · CPU")
    expect(tracing_button(lab)).to_have_attribute("title", "New work goes to: cpu:0. Click to stop tracing.")
    tracing_button(lab).click()
    expect(tracing_button(lab)).to_have_accessible_name("Start tracing")
    lab.run_to_end(3)
    expect(lab.cell(3).locator(".jp-mlgpu-Receipt")).to_have_count(0)
    tracing_button(lab).click()
    expect(tracing_button(lab)).to_have_accessible_name("Tracing · CPU")
    lab.run_to_end(3)
    expect(lab.cell(3).locator(".jp-mlgpu-Receipt")).to_have_count(1)


def test_the_status_bar_follows_the_notebook_in_focus_without_calling_out(lab: Lab, gate: Gate) -> None:
    lab.write("status.ipynb", LOAD, gate.cell)
    lab.write("other.ipynb", "1")
    lab.open("status.ipynb")
    lab.run_to_end(0)
    expect(status(lab)).to_have_text("Tracing · CPU · idle")
    lab.run(1)
    expect(status(lab)).to_have_text("Tracing · CPU · running")
    lab.open("other.ipynb")
    expect(status(lab)).to_have_text("Tracing: off")
    gate.open()
    lab.focus("status.ipynb")
    expect(status(lab)).to_have_text("Tracing · CPU · idle")
    assert status(lab).evaluate("node => node.closest('[aria-live], [role=status], [role=alert]')") is None
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    status(lab).click()
    expect(tab(lab, "Now")).to_be_visible()


@pytest.mark.slow
def test_the_status_bar_is_drawn_when_its_words_change_and_not_with_each_message(lab: Lab) -> None:
    lab.write("calm.ipynb", LOAD, *["1"] * 3)
    lab.open("calm.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.records).to_have_count(1)
    expect(status(lab)).to_have_text("Tracing · CPU · idle")
    lab.page.evaluate(
        """() => {
            window.words = new Set();
            const look = () => window.words.add(document.querySelector('.jp-mlgpu-StatusItem').textContent);
            window.changes = 0;
            new MutationObserver(() => { window.changes += 1; look(); }).observe(
                document.querySelector('.jp-mlgpu-StatusItem'),
                { subtree: true, childList: true, characterData: true, attributes: true }
            );
        }"""
    )
    lab.run_to_end(2)
    lab.run_to_end(3)
    expect(lab.records).to_have_count(3)
    expect(status(lab)).to_have_text("Tracing · CPU · idle")
    # Each cell may be seen to run and to end.
    assert lab.page.evaluate("() => window.changes") <= 4
    assert set(lab.page.evaluate("() => [...window.words]")) <= {
        "Tracing · CPU · idle",
        "Tracing · CPU · running",
    }


# -- notebooks that ask to be traced ------------------------------------------------------------------


def test_a_notebook_asks_to_be_traced_when_it_opens_and_is(lab: Lab) -> None:
    path = lab.write("asks.ipynb", "a = 1", "b = 2")
    lab.open("asks.ipynb")
    lab.run_to_end(0)  # who has run all of its cells trusts the notebook
    lab.run_to_end(1)
    execute(lab, "trace-when-opened")
    expect(notice(lab)).to_contain_text("This notebook is now traced")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.save()
    assert json.loads(path.read_text())["metadata"]["jupyter_mlgpu"] == MARK["jupyter_mlgpu"]
    lab.close_notebooks()
    lab.server.end_kernels()
    lab.open("asks.ipynb")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.run_to_end(0)
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(["a = 1"])


@pytest.mark.slow
def test_it_is_also_where_its_kernel_takes_longer_to_start_than_we_wait_for_an_answer(lab: Lab) -> None:
    launch = f"sleep 12; exec {sys.executable} -m ipykernel_launcher -f {{connection_file}}"
    lab.server.add_kernel_command("slowly", ["sh", "-c", launch])
    lab.write("slowly.ipynb", "a = 1", kernel="slowly")
    lab.open("slowly.ipynb")
    lab.run_to_end(0)
    execute(lab, "trace-when-opened")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.save()
    lab.close_notebooks()
    lab.server.end_kernels()
    lab.open("slowly.ipynb")
    expect(lab.sidebar).to_contain_text("No receipts yet")


@pytest.mark.slow
def test_after_restart_and_run_all_every_cell_is_traced(lab: Lab) -> None:
    lab.write("again.ipynb", "a = 1", "b = 2")
    lab.open("again.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    execute(lab, "trace-when-opened")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.page.evaluate("() => void jupyterapp.commands.execute('notebook:restart-run-all')")
    lab.page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    expect(lab.records.locator(".jp-mlgpu-Name")).to_have_text(
        ["b = 2", "a = 1"],
        timeout=30_000,  # a kernel starts
    )


@pytest.mark.slow
def test_the_wish_is_taken_back_and_what_else_stands_there_stays(lab: Lab) -> None:
    path = lab.write("back.ipynb", "a = 1")
    notebook = json.loads(path.read_text())
    notebook["metadata"]["jupyter_mlgpu"] = {"trace": True, "other": 1}
    path.write_text(json.dumps(notebook))
    lab.open("back.ipynb")
    execute(lab, "trace-when-opened")
    expect(notice(lab).last).to_contain_text("is no longer always traced")
    lab.save()
    assert json.loads(path.read_text())["metadata"]["jupyter_mlgpu"] == {"other": 1}


def test_a_stranger_s_notebook_that_asks_for_it_runs_nothing(lab: Lab) -> None:
    # What loading would run first, beside the notebook.
    trap = lab.server.root / "stranger"
    trap.mkdir(exist_ok=True)
    (trap / "jupyter_mlgpu.py").write_text("open('was-run', 'w')")
    write_marked(lab, "stranger/gift.ipynb", "a = 1")
    lab.open("stranger/gift.ipynb")
    expect(notice(lab)).to_contain_text("is not trusted, so nothing was run.")
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    lab.restart_kernel()
    expect(notice(lab)).to_have_count(2)
    assert not (trap / "was-run").exists()


@pytest.mark.slow
def test_a_notebook_without_code_is_not_taken_for_a_trusted_one(lab: Lab) -> None:
    write_marked(lab, "words.ipynb")
    lab.open("words.ipynb")
    expect(notice(lab)).to_contain_text("is not trusted, so nothing was run.")


@pytest.mark.slow
def test_a_kernel_that_cannot_load_the_extension_says_why(lab: Lab) -> None:
    # As with a version of it that does not suit this Python.
    code = "\n".join(
        [
            "import sys, types",
            "def find_spec(name, *rest): assert name != 'jupyter_mlgpu', f'there is no {name} here'",
            "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=find_spec))",
            "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()",
        ]
    )
    lab.server.add_kernel_command("bare", [sys.executable, "-c", code, "-f", "{connection_file}"])
    lab.write("cannot.ipynb", "a = 1", kernel="bare")
    lab.load("cannot.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    execute(lab, "trace")
    expect(lab.sidebar).to_contain_text("The kernel could not load jupyter_mlgpu")
    expect(lab.sidebar).to_contain_text("AssertionError: there is no jupyter_mlgpu here")


# -- settings -----------------------------------------------------------------------------------------


def open_settings(lab: Lab, title: str = "Tracing and Receipts") -> Locator:
    """The Settings editor on our page."""
    lab.page.evaluate("query => void jupyterapp.commands.execute('settingeditor:open', {query})", title)
    editor = lab.page.locator(".jp-SettingsPanel")
    expect(editor.locator("select").first).to_be_visible()
    return editor


def setting(editor: Locator, name: str) -> Locator:
    return editor.locator(f"[id$='jupyter-mlgpu:sidebar_{name}']")


@pytest.mark.slow
def test_the_sidebar_changes_its_side_at_once_and_stays_open(lab: Lab, preferences: Any) -> None:
    lab.write("sides.ipynb", "1")
    lab.open("sides.ipynb")
    side = "() => document.querySelector('#jupyter-mlgpu-sidebar').closest('#jp-left-stack') !== null"
    assert not lab.page.evaluate(side)
    editor = open_settings(lab)
    setting(editor, "position").select_option(label="Left")
    lab.page.wait_for_function(side)
    expect(lab.sidebar).to_be_visible()
    setting(editor, "position").select_option(label="Right")
    lab.page.wait_for_function(f"!({side})()")
    expect(lab.sidebar).to_be_visible()


@pytest.mark.slow
def test_a_page_begins_with_the_sidebar_on_the_side_that_was_set(lab: Lab, preferences: Any) -> None:
    preferences(position="left")
    lab.write("left.ipynb", "1")
    lab.load("left.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    assert lab.sidebar.evaluate("node => node.closest('#jp-left-stack') !== null")


@pytest.mark.slow
def test_another_language_is_spoken_at_once(lab: Lab, preferences: Any) -> None:
    lab.write("spoken.ipynb", LOAD, "1 / 0")
    lab.open("spoken.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(tab(lab, "Cells")).to_be_visible()
    editor = open_settings(lab)
    setting(editor, "language").select_option(label="简体中文")
    expect(tab(lab, "单元格")).to_be_visible()
    expect(status(lab)).to_have_text("跟踪 · CPU · 空闲")
    lab.focus("spoken.ipynb")
    expect(tracing_button(lab)).to_have_accessible_name("跟踪 · CPU")
    label = lab.page.evaluate("() => jupyterapp.commands.label('jupyter-mlgpu:open')")
    assert label == "显示回执"
    expect(lab.receipts.first).to_contain_text("出错")


@pytest.mark.slow
def test_the_page_of_a_result_speaks_another_language_at_once(lab: Lab, preferences: Any) -> None:
    lab.write_with_receipts("spoken_result.ipynb", raced(race()))
    lab.open_without_kernel("spoken_result.ipynb")
    expect(lab.open_result()).to_have_accessible_name("Race: x @ x")
    setting(open_settings(lab), "language").select_option(label="简体中文")
    lab.page.locator(".lm-TabBar-tabLabel", has_text="x @ x").click()
    expect(lab.result).to_have_accessible_name(re.compile("^竞速.x @ x$"))
    expect(lab.result).to_contain_text("约从 n = 46 起 gpu:0 更快")


def test_receipts_open_and_vanish_as_the_setting_says(lab: Lab, preferences: Any) -> None:
    lab.write_with_receipts("shown.ipynb", bundle(example_record()))
    lab.open_without_kernel("shown.ipynb")
    expect(lab.receipts.get_by_role("button").first).to_have_attribute("aria-expanded", "false")
    before = lab.cell(0).bounding_box()
    assert before is not None
    editor = open_settings(lab)
    setting(editor, "receipt").select_option(label="Everything that was measured")
    lab.focus("shown.ipynb")
    expect(lab.receipts.get_by_role("table", name="Readings")).to_be_visible()
    lab.page.locator(".lm-TabBar-tabLabel", has_text="Settings").first.click()
    setting(editor, "receipt").select_option(label="Not shown")
    lab.focus("shown.ipynb")
    expect(lab.receipts).to_have_count(0)
    expect(lab.cell(0).locator(".jp-OutputArea-output")).to_be_hidden()
    expect(lab.records).to_have_count(1)  # the sidebar still shows it
    lab.save()
    assert "jupyter-mlgpu" in (lab.server.root / "shown.ipynb").read_text()


@pytest.mark.slow
def test_without_live_gauges_the_kernel_is_asked_for_none(lab: Lab, preferences: Any) -> None:
    preferences(liveGauges=False)
    lab.write("off.ipynb", LOAD)
    lab.load("off.ipynb")
    lab.wait_for_app()
    lab.run_to_end(0)
    execute(lab, "show-now")
    expect(lab.sidebar).to_contain_text("Live gauges are turned off in the settings")
    asked = '"type":"watch"'
    assert not any(asked in frame.replace(" ", "") for frame in lab.sent)
    # At once, when they are turned on.
    setting(open_settings(lab), "liveGauges").check()
    expect(lab.sidebar.locator("[data-sampled]")).to_be_visible()
    assert any(asked in frame.replace(" ", "") for frame in lab.sent)


@pytest.mark.slow
def test_gauges_are_drawn_as_seldom_as_the_setting_says(lab: Lab, preferences: Any) -> None:
    preferences(redrawSeconds=60)
    readings: list[str] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", note)

    def note(frame: str | bytes) -> None:
        text = frame if isinstance(frame, str) else frame.decode(errors="replace")
        readings.extend(re.findall(r'"type": ?"counters"', text))

    lab.write("seldom.ipynb", LOAD)
    lab.page.on("websocket", listen)
    lab.load("seldom.ipynb")
    lab.wait_for_app()
    lab.run_to_end(0)
    execute(lab, "show-now")
    gauges = lab.sidebar.locator(".jp-mlgpu-Gauges[data-sampled]")
    # The kernel's: until it has answered, the machine's stand here.
    expect(gauges.get_by_role("region", name=re.compile("s process$"))).to_be_visible()
    drawn = gauges.get_attribute("data-sampled")
    seen = len(readings)
    while len(readings) < seen + 4:
        lab.page.evaluate("() => new Promise(requestAnimationFrame)")
    assert gauges.get_attribute("data-sampled") == drawn
    lab.page.remove_listener("websocket", listen)


@pytest.mark.slow
def test_settings_that_are_none_leave_the_defaults(lab: Lab, preferences: Any) -> None:
    preferences(position="up", language=7)
    lab.write("defaults.ipynb", "1")
    lab.load("defaults.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    assert lab.sidebar.evaluate("node => node.closest('#jp-right-stack') !== null")


@pytest.mark.slow
@pytest.mark.usefixtures("chinese")
def test_in_chinese_the_settings_and_the_menu_are_chinese_too(lab: Lab) -> None:
    lab.write("zh.ipynb", "1")
    lab.load("zh.ipynb")
    lab.wait_for_app()
    editor = open_settings(lab, "跟踪与回执")
    expect(editor).to_contain_text("侧边栏的位置")
    expect(editor).to_contain_text("每秒两次在内核中读取")
    expect(setting(editor, "receipt").locator("option")).to_contain_text(["可展开", "全部测量结果", "不显示"])
