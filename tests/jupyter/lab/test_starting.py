"""The first minute: one button starts tracing, without a line to type, and can do so always."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Locator, expect

from jupyter_mlgpu.record import origin

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate, Lab, Server

LOAD = "%load_ext jupyter_mlgpu"
#: A kernel in whose environment the package is not installed.
BARE = "\n".join(
    [
        "import sys, types",
        "def find_spec(name, *rest):",
        "    if name == 'jupyter_mlgpu': raise ModuleNotFoundError(f'No module named {name!r}')",
        "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=find_spec))",
        "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()",
    ]
)


def notice(lab: Lab) -> Locator:
    """What JupyterLab tells in a corner of the page."""
    return lab.page.locator(".Toastify__toast")


@pytest.fixture(autouse=True)
def no_notices(lab: Lab) -> Iterator[None]:
    """Close what a test has left in the corner of the page."""
    yield
    for name in notice(lab).evaluate_all("all => all.map(one => one.id)"):
        lab.page.evaluate("id => jupyterapp.commands.execute('apputils:dismiss-notification', { id })", name)
    expect(notice(lab)).to_have_count(0)


@pytest.fixture
def preferences(lab: Lab, server: Server) -> Iterator[Any]:
    """Writes our settings; pages loaded from then on follow them. The next test begins with the defaults."""

    def write(**values: Any) -> None:
        server.change_setting("sidebar", values, package="jupyter-mlgpu")

    yield write
    write()
    lab.page.goto("about:blank")


def start_button(lab: Lab) -> Locator:
    """The sidebar's."""
    return lab.sidebar.get_by_role("button", name="Start tracing")


def toolbar_button(lab: Lab) -> Locator:
    return lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-TracingButton button")


def always(lab: Lab) -> Locator:
    return lab.sidebar.get_by_role("checkbox", name="Always for this notebook")


def asked_for_loading(lab: Lab) -> int:
    """How often the page has asked a kernel to load the extension."""
    return sum("execute_request" in frame and "load_extension" in frame for frame in lab.sent)


def hide_sidebar(lab: Lab) -> None:
    lab.page.evaluate("() => jupyterapp.shell.collapseRight()")
    expect(lab.sidebar).to_be_hidden()


# -- the button -----------------------------------------------------------------------------------------


def test_one_click_in_the_sidebar_starts_tracing_and_leaves_no_trace_in_the_notebook(lab: Lab) -> None:
    path = lab.write("start.ipynb", "a = 1")
    lab.open("start.ipynb")
    expect(lab.sidebar).to_contain_text(
        "This notebook is not traced. Start tracing, and each cell that you run"
    )
    expect(start_button(lab)).to_have_count(1)
    start_button(lab).click()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    expect(start_button(lab)).to_have_count(0)
    lab.run_to_end(0)
    expect(lab.records).to_have_count(1)
    expect(lab.receipts).to_have_count(1)
    expect(lab.cell(0).locator(".jp-InputPrompt").first).to_have_text("[1]:")
    lab.save()
    notebook = json.loads(path.read_text())
    assert [cell["source"] for cell in notebook["cells"]] in (["a = 1"], [["a = 1"]])
    assert "jupyter_mlgpu" not in notebook["metadata"]


def test_the_toolbar_has_the_button_until_the_notebook_is_traced_and_opens_the_sidebar(lab: Lab) -> None:
    lab.write("toolbar_start.ipynb", "dir()", "%history", "In[1:]")
    lab.load("toolbar_start.ipynb")
    lab.wait_for_app()
    hide_sidebar(lab)
    button = toolbar_button(lab)
    expect(button).to_have_accessible_name("Start tracing")
    editor = lab.cell(0).locator(".cm-content")
    editor.click()
    button.click()
    expect(button).to_have_accessible_name("Tracing · CPU")
    expect(lab.sidebar).to_be_visible()
    expect(editor).to_be_focused()
    # Neither names of ours nor our line are among the user's.
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(lab.cell(0).locator(".jp-OutputArea")).not_to_contain_text("path")
    expect(lab.cell(0).locator(".jp-OutputArea")).not_to_contain_text("problem")
    expect(lab.cell(1).locator(".jp-OutputArea-output pre").first).to_have_text("dir()\n%history\n")


@pytest.mark.slow
def test_the_keyboard_starts_it_and_stays_in_the_sidebar(lab: Lab) -> None:
    lab.write("keyboard_start.ipynb", "1")
    lab.open("keyboard_start.ipynb")
    start_button(lab).focus()
    lab.page.keyboard.press("Enter")
    expect(lab.sidebar).to_contain_text("No receipts yet")
    expect(lab.sidebar).to_be_focused()


@pytest.mark.slow
@pytest.mark.parametrize("button", [start_button, toolbar_button])
def test_a_click_leaves_the_keyboard_in_the_cell(lab: Lab, button: Callable[[Lab], Locator]) -> None:
    name = f"click_start_{button.__name__}.ipynb"
    lab.write(name, "a = 1")
    lab.open(name)
    editor = lab.cell(0).locator(".cm-content")
    editor.click()
    lab.page.keyboard.press("End")
    expect(toolbar_button(lab)).to_have_accessible_name("Start tracing")
    button(lab).click()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.page.keyboard.type(" + 1")
    expect(editor).to_have_text("a = 1 + 1")


@pytest.mark.slow
def test_the_palette_starts_it_and_returns_the_focus_to_the_cell(lab: Lab) -> None:
    lab.write("palette_start.ipynb", "a = 1", "b = 2")
    lab.open("palette_start.ipynb")
    expect(toolbar_button(lab)).to_have_accessible_name("Start tracing")
    lab.cell(1).locator(".cm-content").click()
    lab.page.evaluate("() => jupyterapp.commands.execute('apputils:activate-command-palette')")
    lab.page.locator("#command-palette input").fill("Trace This Notebook")
    lab.page.keyboard.press("Enter")
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    expect(lab.active).to_have_text(re.compile("b = 2"))
    assert lab.active.evaluate("node => node.contains(document.activeElement)")


@pytest.mark.slow
def test_while_a_cell_runs_the_button_says_that_it_is_starting(lab: Lab, gate: Gate) -> None:
    lab.write("busy_start.ipynb", gate.cell, "b = 2")
    lab.open("busy_start.ipynb")
    expect(start_button(lab)).to_be_visible()
    lab.run(0)
    start_button(lab).click()
    starting = lab.sidebar.get_by_role("button", name="Starting…")
    expect(starting).to_have_attribute("aria-disabled", "true")
    expect(toolbar_button(lab)).to_have_text("Starting…")
    expect(lab.sidebar).to_contain_text("Tracing starts when the running cell ends.")
    gate.open()
    expect(lab.sidebar).to_contain_text("No receipts yet")


@pytest.mark.slow
def test_with_tracing_turned_off_it_is_offered_too(lab: Lab) -> None:
    lab.write("off.ipynb", LOAD, "%mlc_trace off", "c = 3")
    lab.open("off.ipynb")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(toolbar_button(lab)).to_have_text("Start tracing")
    start_button(lab).click()
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    lab.run_to_end(2)
    expect(lab.records).to_have_count(1)


def test_where_the_package_is_missing_one_sentence_says_how_to_install_it(lab: Lab) -> None:
    lab.server.add_kernel_command("missing", [sys.executable, "-c", BARE, "-f", "{connection_file}"])
    lab.write("missing.ipynb", "a = 1", kernel="missing")
    lab.load("missing.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    start_button(lab).click()
    line = f"%{origin.install_line()}"
    said = f"Python. Run {line} in a cell"
    expect(lab.sidebar.get_by_role("status").filter(has_text=said)).to_be_visible()
    expect(lab.sidebar.locator("code")).to_have_text(line)
    expect(start_button(lab)).to_be_enabled()
    lab.run_to_end(0)
    expect(lab.cell(0).locator(".jp-OutputArea-output")).to_have_count(0)
    # With the sidebar closed it is told in the corner.
    hide_sidebar(lab)
    toolbar_button(lab).click()
    expect(notice(lab)).to_contain_text(said)


def test_a_file_of_that_name_beside_the_notebook_is_not_run_for_the_button(lab: Lab) -> None:
    trap = lab.server.root / "beside"
    trap.mkdir(exist_ok=True)
    (trap / "jupyter_mlgpu.py").write_text("open('was-run', 'w')")
    lab.write("beside/mine.ipynb", "a = 1")
    lab.open("beside/mine.ipynb")
    start_button(lab).click()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    assert not (trap / "was-run").exists()


@pytest.mark.parametrize("start", ["button", "cell"])
def test_tracing_survives_a_restart_of_the_kernel_without_a_cell_and_leaves_the_focus(
    lab: Lab, start: str
) -> None:
    name = f"survives_{start}.ipynb"
    lab.write(name, LOAD, "a = 1")
    lab.open(name)
    if start == "cell":
        lab.run_to_end(0)
    else:
        start_button(lab).click()
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    editor = lab.cell(1).locator(".cm-content")
    editor.click()
    lab.restart_kernel()
    expect(toolbar_button(lab)).not_to_have_accessible_name("Tracing · CPU")
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    expect(editor).to_be_focused()
    lab.run_to_end(1)
    expect(lab.cell(1).locator(".jp-InputPrompt").first).to_have_text("[1]:")
    expect(lab.cell(1).locator(".jp-mlgpu-Receipt")).to_have_count(1)


@pytest.mark.slow
@pytest.mark.parametrize("stop", ["button", "cell", "unload"])
def test_tracing_that_was_switched_off_stays_off_after_a_restart(lab: Lab, stop: str) -> None:
    name = f"stays_off_{stop}.ipynb"
    lab.write(name, "%unload_ext jupyter_mlgpu" if stop == "unload" else "%mlc_trace off")
    lab.open(name)
    start_button(lab).click()
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    if stop == "button":
        toolbar_button(lab).click()
    else:
        lab.run_to_end(0)
    expect(toolbar_button(lab)).to_have_accessible_name("Start tracing")
    lab.restart_kernel()
    expect(lab.sidebar).to_contain_text("The kernel was restarted, and this notebook is not traced.")
    assert asked_for_loading(lab) == 1


@pytest.mark.slow
def test_all_cells_of_restart_and_run_all_are_traced_where_one_was(lab: Lab) -> None:
    lab.write("all_again.ipynb", "a = 1", "b = 2")
    lab.open("all_again.ipynb")
    start_button(lab).click()
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    lab.page.evaluate("() => void jupyterapp.commands.execute('notebook:restart-run-all')")
    lab.page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    expect(lab.receipts).to_have_count(2)


@pytest.mark.slow
def test_a_restarted_kernel_without_the_package_is_left_alone(lab: Lab) -> None:
    # The package is there the first time only, as where a cell has put it into the path.
    once = lab.server.root / "started-once"
    code = f"import os\nif os.path.exists({str(once)!r}):\n" + "\n".join(
        f"    {line}" for line in BARE.splitlines()[:-1]
    )
    code += f"\nopen({str(once)!r}, 'w').close()\n{BARE.splitlines()[-1]}"
    lab.server.add_kernel_command("once", [sys.executable, "-c", code, "-f", "{connection_file}"])
    lab.write("once.ipynb", "a = 1", kernel="once")
    lab.load("once.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    start_button(lab).click()
    expect(toolbar_button(lab)).to_have_accessible_name("Tracing · CPU")
    lab.restart_kernel()
    expect(toolbar_button(lab)).to_have_accessible_name("Start tracing")
    expect(lab.sidebar).to_contain_text("The kernel was restarted, and this notebook is not traced.")
    expect(lab.sidebar).not_to_contain_text("is not installed")
    expect(notice(lab)).to_have_count(0)


# -- always ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_notebook_that_is_always_traced_is_so_after_a_restart_and_until_that_is_taken_back(
    lab: Lab,
) -> None:
    path = lab.write("always.ipynb", "a = 1")
    lab.open("always.ipynb")
    always(lab).check()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.save()
    assert json.loads(path.read_text())["metadata"]["jupyter_mlgpu"] == {"trace": True}
    lab.restart_kernel()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.run_to_end(0)
    expect(lab.records).to_have_count(1)
    lab.sidebar.get_by_role("tab", name="Now").click()
    expect(always(lab)).to_be_checked()
    always(lab).uncheck()
    lab.save()
    assert "jupyter_mlgpu" not in json.loads(path.read_text())["metadata"]
    lab.sidebar.get_by_role("tab", name="Cells").click()
    lab.shut_down_kernel()
    lab.page.evaluate(
        "() => void jupyterapp.shell.currentWidget.sessionContext.changeKernel({name: 'python3'})"
    )
    expect(start_button(lab)).to_be_visible()


@pytest.mark.slow
def test_with_the_setting_a_new_notebook_is_traced_at_once_and_a_stranger_s_is_not(
    lab: Lab, preferences: Any
) -> None:
    lab.write("fresh.ipynb", "")
    lab.write("given.ipynb", "b = 2")
    preferences(traceAlways=True)
    lab.load("fresh.ipynb")
    lab.wait_for_app()
    lab.show_sidebar()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.restart_kernel()
    expect(lab.sidebar).to_contain_text("No receipts yet")
    lab.open("given.ipynb")
    expect(lab.sidebar).to_contain_text("This notebook is not traced.")
    expect(start_button(lab)).to_be_enabled()


def test_the_setting_holds_at_once_for_notebooks_that_are_open(lab: Lab, preferences: Any) -> None:
    lab.write("open_already.ipynb", "")
    lab.open("open_already.ipynb")
    expect(start_button(lab)).to_be_visible()
    lab.page.evaluate(
        "() => void jupyterapp.commands.execute('settingeditor:open', {query: 'Tracing and Receipts'})"
    )
    lab.page.locator("[id$='jupyter-mlgpu:sidebar_traceAlways']").check()
    expect(lab.sidebar).to_contain_text("No receipts yet")


# -- the keyboard, and what the status bar says ---------------------------------------------------------


def focused_in_notebook(lab: Lab) -> bool:
    inside: bool = lab.page.evaluate(
        "() => jupyterapp.shell.currentWidget.content.node.contains(document.activeElement)"
    )
    return inside


@pytest.mark.slow
def test_h_h_opens_the_sidebar_and_closes_it_from_either_side(lab: Lab) -> None:
    lab.write("toggle.ipynb", "a = 1")
    lab.load("toggle.ipynb")
    lab.wait_for_app()
    hide_sidebar(lab)
    lab.cell(0).locator(".cm-content").click()
    lab.page.keyboard.press("Escape")
    for _ in range(2):
        lab.page.keyboard.type("hh")
        expect(lab.sidebar).to_be_focused()
        lab.page.keyboard.type("hh")
        expect(lab.sidebar).to_be_hidden()
        assert focused_in_notebook(lab)
    lab.page.keyboard.type("hh")
    expect(lab.sidebar).to_be_focused()
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.type("hh")
    expect(lab.sidebar).to_be_hidden()


@pytest.mark.slow
def test_h_h_is_typed_in_a_field_of_the_sidebar_and_escape_empties_it_before_it_leads_back(
    lab: Lab,
) -> None:
    lab.write("typed.ipynb", LOAD, "a = 1", "b = 2")
    lab.open("typed.ipynb")
    for index in range(3):
        lab.run_to_end(index)
    expect(lab.records).to_have_count(2)
    field = lab.sidebar.get_by_role("searchbox", name="Find a cell")
    field.focus()
    lab.page.keyboard.type("hh")
    expect(field).to_have_value("hh")
    lab.page.keyboard.press("Escape")
    expect(field).to_have_value("")
    expect(field).to_be_focused()
    lab.page.keyboard.press("Escape")
    lab.page.wait_for_function("() => document.activeElement.closest('.jp-Notebook') !== null")
    assert lab.active_cell() == 2
    expect(lab.sidebar).to_be_visible()


@pytest.mark.slow
def test_the_status_bar_says_running_also_for_cells_that_are_not_measured(lab: Lab, gate: Gate) -> None:
    wait = f"while not __import__('os').path.exists({str(gate.path)!r}): __import__('time').sleep(0.01)"
    bench = "import jupyter_mlgpu.jupyter.notebook.magics.bench_command as bench\n"
    bench += f"bench.bench_command = lambda line, shell: exec({wait!r})\n"
    lab.write("bench.ipynb", bench, LOAD, "%mlc_bench")
    lab.open("bench.ipynb")
    status = lab.page.locator(".jp-mlgpu-StatusItem button")
    lab.run_to_end(0)
    lab.run_to_end(1)
    expect(status).to_have_text("Tracing · CPU · idle")
    lab.run(2)
    expect(status).to_have_text("Tracing · CPU · running")
    gate.open()
    expect(status).to_have_text("Tracing · CPU · idle")
