"""Where a restart is needed: one sentence, and a button that asks, restarts and runs the cells again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Route, expect

from jupyter_mlgpu.jupyter.notebook.magics.restart import bundle
from jupyter_mlgpu.record.errors import RestartNeededError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.jupyter.lab.conftest import Gate, Lab, Server

BUTTON = "Restart the kernel and run all cells up to here…"
HINT = bundle(RestartNeededError("It was read already.", "Restart by hand."))

#: A cell that asks for what needs a restart: without a framework, for the tests of the button alone.
NEEDS_RESTART = """
from jupyter_mlgpu.record.errors import RestartNeededError
from jupyter_mlgpu.jupyter.notebook.magics.restart import show
show(RestartNeededError("It was read already.", "Restart by hand."{more}))
print("hint", count("hint"))
"""


class Counter:
    """Cells that count their runs in files, which outlive the kernel."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.first = (
            "import pathlib\n"
            "def count(name):\n"
            f"    file = pathlib.Path({str(folder)!r}, name)\n"
            "    file.write_text((file.read_text() if file.exists() else '') + 'x')\n"
            "    return len(file.read_text())\n"
            "count('first')"
        )

    def of(self, name: str) -> int:
        """How often a cell has run, over all kernels."""
        file = self.folder / name
        return len(file.read_text()) if file.exists() else 0


@pytest.fixture
def counter(tmp_path: Path) -> Counter:
    return Counter(tmp_path)


def ready(lab: Lab, counter: Counter, name: str, *, more: str = "", between: str = "") -> Locator:
    """A notebook that was run to its end and shows the button in its third cell."""
    hint = NEEDS_RESTART.format(more=more)
    lab.write(name, counter.first, f"{between}\ncount('second')", hint, "kept = count('below')")
    lab.load(name)
    lab.wait_for_app()
    for index in range(4):
        lab.run_to_end(index)
    button = lab.cell(2).locator(".jp-mlgpu-Restart button")
    expect(button).to_have_attribute("aria-disabled", "false")
    return button


def dialog(lab: Lab) -> Locator:
    return lab.page.get_by_role("dialog")


def expect_counts(lab: Lab, *numbers: int) -> None:
    """The numbers beside the first cells become these: a reply may come after what its cell has printed."""
    lab.page.wait_for_function(
        "wanted => String([...jupyterapp.shell.currentWidget.content.widgets]"
        ".map(cell => cell.model.executionCount).slice(0, wanted.length)) === String(wanted)",
        arg=numbers,
    )


def test_the_button_asks_restarts_and_runs_the_cells_up_to_it_and_none_below(
    lab: Lab, counter: Counter
) -> None:
    button = ready(lab, counter, "restarts.ipynb")
    notice = lab.cell(2).locator(".jp-mlgpu-Restart")
    expect(notice).to_contain_text("It was read already.")
    expect(notice).not_to_contain_text("Restart by hand.")
    button.click()
    expect(dialog(lab)).to_contain_text("Restart the kernel of restarts.ipynb?")
    expect(dialog(lab)).to_contain_text("All variables of this notebook are lost.")
    expect(dialog(lab)).to_contain_text("run again: 3 in all")
    expect(dialog(lab)).not_to_contain_text("A cell is running now")
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(2)).to_contain_text("hint 2")
    assert [counter.of(name) for name in ("first", "second", "hint", "below")] == [2, 2, 2, 1]
    expect_counts(lab, 1, 2, 3)
    lab.run_to_end(3)
    assert counter.of("below") == 2, "the kernel goes on as usual"
    expect_counts(lab, 1, 2, 3, 4)


@pytest.mark.slow
def test_a_no_changes_nothing_and_gives_the_keyboard_back(lab: Lab, counter: Counter) -> None:
    button = ready(lab, counter, "cancels.ipynb")
    kernel = "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.id"
    before = lab.page.evaluate(kernel)
    button.click()
    dialog(lab).get_by_role("button", name="Cancel").click()
    expect(dialog(lab)).to_have_count(0)
    expect(button).to_be_focused()
    assert lab.page.evaluate(kernel) == before
    assert [counter.of(name) for name in ("first", "second", "hint", "below")] == [1, 1, 1, 1]
    lab.run_to_end(3)
    expect_counts(lab, 1, 2, 3, 5)  # the same kernel counts on


@pytest.mark.slow
def test_the_button_is_reached_and_pressed_by_keyboard_and_enter_alone_loses_nothing(
    lab: Lab, counter: Counter
) -> None:
    button = ready(lab, counter, "keyboard.ipynb")
    lab.cell(2).locator(".jp-InputPrompt").click()
    for _ in range(40):
        lab.page.keyboard.press("Tab")
        if button.evaluate("button => button === document.activeElement"):
            break
    expect(button).to_be_focused()
    expect(button).to_have_accessible_name(BUTTON)
    lab.page.keyboard.press("Enter")
    expect(dialog(lab).get_by_role("button", name="Cancel")).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(dialog(lab)).to_have_count(0)
    assert counter.of("first") == 1
    expect(button).to_be_focused()
    lab.page.keyboard.press("Space")
    expect(dialog(lab).get_by_role("button", name="Cancel")).to_be_focused()
    lab.page.keyboard.press("Tab")
    expect(dialog(lab).get_by_role("button", name="Restart and Run")).to_be_focused()
    lab.page.keyboard.press("Enter")
    expect(lab.cell(2)).to_contain_text("hint 2")
    assert [counter.of(name) for name in ("first", "second", "hint", "below")] == [2, 2, 2, 1]


@pytest.mark.slow
def test_a_busy_kernel_is_said_before_it_is_stopped(lab: Lab, counter: Counter, gate: Gate) -> None:
    lab.write("busy.ipynb", counter.first, NEEDS_RESTART.format(more=""), gate.cell)
    lab.load("busy.ipynb")
    lab.wait_for_app()
    lab.run_to_end(0)
    lab.run_to_end(1)
    lab.run(2)
    lab.page.wait_for_function(
        "jupyterapp.shell.currentWidget.sessionContext.session.kernel.status === 'busy'"
    )
    lab.cell(1).locator(".jp-mlgpu-Restart button").click()
    expect(dialog(lab)).to_contain_text("A cell is running now: it will be stopped")
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(1)).to_contain_text("hint 2")
    assert counter.of("first") == 2


@pytest.mark.slow
def test_a_restart_that_fails_is_said_and_no_cell_is_run(lab: Lab, counter: Counter) -> None:
    button = ready(lab, counter, "fails.ipynb")

    def refuse(route: Route) -> None:
        route.fulfill(status=500, body='{"message": "No."}')

    lab.page.route("**/api/kernels/*/restart*", refuse)
    try:
        button.click()
        dialog(lab).get_by_role("button", name="Restart and Run").click()
        expect(lab.cell(2).get_by_role("status")).to_contain_text("The kernel could not be restarted")
    finally:
        lab.page.unroute("**/api/kernels/*/restart*", refuse)
    assert counter.of("first") == 1


@pytest.mark.slow
def test_a_cell_above_that_fails_ends_the_replay_and_that_is_said(lab: Lab, counter: Counter) -> None:
    fails_again = f"if pathlib.Path({str(counter.folder)!r}, 'second').exists(): raise RuntimeError('again')"
    button = ready(lab, counter, "stops.ipynb", between=fails_again)
    button.click()
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.page.get_by_role("alert")).to_contain_text("a cell above did not finish")
    expect(lab.cell(1)).to_contain_text("RuntimeError")
    assert [counter.of(name) for name in ("first", "hint")] == [2, 1]


@pytest.mark.slow
def test_a_setting_is_asked_about_and_is_in_the_fresh_kernel_before_its_first_cell(
    lab: Lab, counter: Counter
) -> None:
    # TORCH_LOGS is read when PyTorch is imported; nothing here imports it.
    button = ready(lab, counter, "setting.ipynb", more=', verbose="TORCH_LOGS=recompiles"',
                   between="import os; print('TORCH_LOGS is', os.environ.get('TORCH_LOGS'))")  # fmt: skip
    expect(lab.cell(1)).to_contain_text("TORCH_LOGS is None")
    button.click()
    expect(dialog(lab)).to_contain_text(
        "First set in the new kernel: %mlc_trace verbose TORCH_LOGS=recompiles"
    )
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(1)).to_contain_text("TORCH_LOGS is recompiles")
    expect(lab.cell(2)).to_contain_text("hint 2")
    expect_counts(lab, 1, 2, 3)  # the setting is no cell of the user's


@pytest.mark.slow
def test_a_setting_that_the_kernel_refuses_is_said_and_no_cell_is_run(lab: Lab, counter: Counter) -> None:
    button = ready(lab, counter, "refused.ipynb", more=', verbose="louder please"')
    button.click()
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(2).get_by_role("status")).to_contain_text("no cell was run. UsageError: Unknown words")
    assert counter.of("first") == 1


def test_without_a_kernel_or_in_a_notebook_that_is_not_trusted_the_button_says_why_not(lab: Lab) -> None:
    lab.write_with_receipts("stranger.ipynb", HINT)
    lab.open_without_kernel("stranger.ipynb")
    button = lab.cell(0).get_by_role("button", name=BUTTON)
    expect(lab.cell(0)).to_contain_text("It was read already.")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(button).to_have_accessible_description(re.compile("This notebook is not trusted"))
    button.click(force=True)
    expect(dialog(lab)).to_have_count(0)
    lab.page.evaluate("() => { jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted = true; }")
    lab.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.statusChanged.emit('idle')")
    expect(lab.cell(0).get_by_role("button", name=BUTTON)).to_have_accessible_description(
        "This notebook has no kernel."
    )
    lab.cell(0).get_by_role("button", name=BUTTON).click(force=True)
    expect(dialog(lab)).to_have_count(0)


def test_a_hostile_hint_is_text_and_one_with_hidden_words_is_none(lab: Lab) -> None:
    markup = "<img src=x onerror='window.pwned = 1'>"
    mime = next(name for name in HINT if name.startswith("application/"))
    hostile = {mime: {"sentence": markup, "by_hand": markup, "verbose": None}}
    hidden = {mime: {"sentence": "Press.", "by_hand": "", "verbose": "on\nimport os"}}
    lab.write_with_receipts("hostile.ipynb", hostile, hidden, {mime: []})
    lab.open_without_kernel("hostile.ipynb")
    expect(lab.cell(0).locator(".jp-mlgpu-Restart")).to_contain_text(markup)
    for index in (1, 2):
        expect(lab.cell(index).locator(".jp-mlgpu-Restart")).to_have_text(
            "This output cannot be read: its data was not made by jupyter_mlgpu."
        )
    assert lab.page.evaluate("() => window.pwned") is None


@pytest.mark.slow
def test_in_a_view_of_the_output_alone_the_way_by_hand_stands_instead_of_the_button(
    lab: Lab, counter: Counter
) -> None:
    ready(lab, counter, "view.ipynb")
    lab.page.evaluate(
        """() => {
            const { content } = jupyterapp.shell.currentWidget;
            content.activeCellIndex = 2;
            void jupyterapp.commands.execute('notebook:create-output-view');
        }"""
    )
    view = lab.page.locator(".jp-LinkedOutputView")
    expect(view).to_contain_text("Restart by hand.")
    expect(view.get_by_role("button", name=BUTTON)).to_have_count(0)


@pytest.fixture
def without_plugin(server: Server) -> Iterator[None]:
    """JupyterLab with our outputs alone: nothing that knows of notebooks."""
    server.set_extension("jupyter-mlgpu:sidebar", enabled=False)
    yield
    server.set_extension("jupyter-mlgpu:sidebar", enabled=True)


@pytest.mark.slow
def test_without_the_plugin_the_way_by_hand_stands_instead_of_the_button(
    lab: Lab, without_plugin: None
) -> None:
    lab.write_with_receipts("bare.ipynb", HINT)
    lab.load("bare.ipynb")
    dialog(lab).get_by_role("button", name="No Kernel").click()
    lab.wait_for_notebook()
    expect(lab.cell(0).locator(".jp-mlgpu-Restart")).to_have_text("It was read already.Restart by hand.")
    assert not lab.page.evaluate("() => jupyterapp.commands.hasCommand('jupyter-mlgpu:open')")


@pytest.mark.slow
def test_the_command_palette_does_the_same_for_the_active_cell(lab: Lab, counter: Counter) -> None:
    ready(lab, counter, "palette.ipynb")
    label = "Restart the Kernel and Run All Cells Up to Here…"
    command = "jupyter-mlgpu:restart-and-run-to-here"
    assert lab.page.evaluate("id => jupyterapp.commands.label(id)", command) == label
    lab.page.evaluate(
        """id => {
            jupyterapp.shell.currentWidget.content.activeCellIndex = 1;
            void jupyterapp.commands.execute(id);
        }""",
        command,
    )
    expect(dialog(lab)).to_contain_text("run again: 2 in all")
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(1).locator(".jp-OutputArea-executeResult")).to_have_text("[2]:2")
    assert [counter.of(name) for name in ("first", "second", "hint", "below")] == [2, 2, 1, 1]


@pytest.mark.slow
def test_a_chinese_jupyterlab_asks_in_chinese(lab: Lab, chinese: None, counter: Counter) -> None:
    button = ready(lab, counter, "chinese.ipynb")
    expect(button).to_have_text("重启内核并运行到此处为止的所有单元格…")
    button.click()
    expect(dialog(lab)).to_contain_text("此笔记本的所有变量都会丢失。")
    expect(dialog(lab)).to_contain_text("3。")
    dialog(lab).get_by_role("button", name="取消").click()
    assert counter.of("first") == 1


@pytest.mark.slow
def test_tensorflow_says_more_after_the_button_where_it_was_imported_too_early(lab: Lab) -> None:
    lab.write(
        "late.ipynb",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'\n%load_ext jupyter_mlgpu",
        "import tensorflow as tf\ntf.reduce_sum(tf.ones(3)).numpy()",
        "%mlc_trace verbose on",
    )
    lab.load("late.ipynb")
    lab.wait_for_app()
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.cell(2)).to_contain_text("TensorFlow is already imported")
    lab.cell(2).get_by_role("button", name=BUTTON).click()
    dialog(lab).get_by_role("button", name="Restart and Run").click()
    expect(lab.cell(2)).to_contain_text("Set TF_CPP_VMODULE=execute=1,placer=1", timeout=90_000)
    expect(lab.cell(2).get_by_role("button", name=BUTTON)).to_have_count(0)
    expect(lab.cell(2).locator(".jp-mlgpu-Receipt")).to_have_count(0)
    expect(lab.cell(1)).to_contain_text("Executing op")
