"""The oldest JupyterLab that is supported, and Notebook 7: what differs there, and that the rest works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, expect

from jupyter_mlgpu.show.receipts.bundle import bundle
from jupyter_mlgpu.testing import example_record
from tests.jupyter.lab.conftest import Lab, Server
from tests.jupyter.lab.test_plans import race, raced

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Gate

LOAD = "%load_ext jupyter_mlgpu"


class Notebook(Lab):
    """One browser tab with Notebook 7, which shows one notebook a tab."""

    def load(self, name: str) -> None:
        """Open a notebook in this tab."""
        self.page.goto(f"{self.server.url}notebooks/{name}?token=test")

    def _open_or_load(self, name: str) -> None:
        self.load(name)

    def close_notebooks(self) -> None:
        """Leave the page: the tab is the notebook."""
        self.page.goto("about:blank")


@pytest.fixture(scope="module", params=["JupyterLab 4.4", "Notebook 7"])
def other(request: Any, front_ends: str, tmp_path_factory: Any) -> Iterator[tuple[type[Lab], Server]]:
    """A server of each."""
    is_lab = request.param.startswith("JupyterLab")
    folder = tmp_path_factory.mktemp("other")
    server = Server(folder, python=front_ends, app="lab" if is_lab else "notebook")
    yield Lab if is_lab else Notebook, server
    server.stop()


@pytest.fixture
def front_end(other: tuple[type[Lab], Server], context: BrowserContext) -> Iterator[Lab]:
    """A tab of its own in it; what goes wrong in the page is kept in `errors`."""
    kind, server = other
    page = context.new_page()
    lab = kind(page, server)
    yield lab
    page.close()
    server.end_kernels()


def test_a_cell_is_shown_while_it_runs_and_after_a_reload(front_end: Lab, gate: Gate) -> None:
    front_end.write("live.ipynb", LOAD, "before = 1", gate.cell)
    front_end.open("live.ipynb")
    front_end.run_to_end(0)
    front_end.run_to_end(1)
    expect(front_end.records).to_have_count(1)
    front_end.run(2)
    expect(front_end.running).to_contain_text("while not pathlib.Path")
    front_end.save()
    front_end.reload()
    front_end.wait_for_app()
    front_end.show_sidebar()
    expect(front_end.running).to_contain_text("while not pathlib.Path")
    expect(front_end.records.locator(".jp-mlgpu-Name")).to_have_text(["before = 1"])
    gate.open()
    expect(front_end.records).to_have_count(2)


def test_loading_the_extension_opens_the_sidebar(front_end: Lab) -> None:
    front_end.write("opens.ipynb", LOAD)
    front_end.load("opens.ipynb")
    front_end.wait_for_app()
    expect(front_end.sidebar).to_be_hidden()
    front_end.run(0)
    expect(front_end.sidebar).to_contain_text("No receipts yet")


def test_the_toolbar_the_menu_and_the_shortcuts_are_there(front_end: Lab) -> None:
    front_end.write("commands.ipynb", LOAD, "a = 1")
    front_end.open("commands.ipynb")
    front_end.run_to_end(0)
    front_end.run_to_end(1)
    button = front_end.page.locator(".jp-mlgpu-TracingButton button")
    expect(button).to_have_accessible_name("Tracing · CPU")
    button.click()
    expect(button).to_have_accessible_name("Start tracing")
    front_end.page.locator(".lm-MenuBar-itemLabel", has_text="Kernel").click()
    front_end.page.locator("#jp-mainmenu-kernel").get_by_text("Tracing and Receipts (mlgpu)").hover()
    menu = front_end.page.locator("#jp-mainmenu-jupyter-mlgpu")
    expect(menu.get_by_text("Show the Receipt of This Cell")).to_be_visible()
    front_end.page.keyboard.press("Escape")
    front_end.page.keyboard.press("Escape")
    front_end.cell(1).locator(".jp-InputPrompt").click()
    for key in ("Escape", "h", "r"):
        front_end.page.keyboard.press(key)
    expect(front_end.sidebar.locator(".jp-mlgpu-Page")).to_contain_text("a = 1")


def test_a_saved_receipt_is_drawn_without_a_kernel(front_end: Lab) -> None:
    front_end.write_with_receipts("saved.ipynb", bundle(example_record()))
    front_end.open_without_kernel("saved.ipynb")
    front_end.receipts.first.get_by_role("button").first.click()
    # The server of Notebook 7 has not our extension here: then the text of the receipt stands in.
    inside = front_end.receipts.first.get_by_role("table", name="Readings")
    expect(inside.or_(front_end.receipts.first.get_by_text("[mlgpu] 500 ms"))).to_be_visible()


def test_a_result_opens_as_a_page_where_there_is_room_for_one(front_end: Lab) -> None:
    front_end.write_with_receipts("result.ipynb", raced(race()))
    front_end.open_without_kernel("result.ipynb")
    expect(front_end.sidebar.get_by_role("button", name="Go to the cell")).to_be_visible()
    if isinstance(front_end, Notebook):
        expect(front_end.sidebar.get_by_role("button", name="Open", exact=True)).to_have_count(0)
    else:
        expect(front_end.open_result().get_by_role("heading", name="Race: x @ x")).to_be_visible()


def test_the_sidebar_stands_on_the_left_where_that_is_set(front_end: Lab) -> None:
    front_end.server.change_setting("sidebar", {"position": "left"}, package="jupyter-mlgpu")
    front_end.write("left.ipynb", "1")
    front_end.open("left.ipynb")
    box = front_end.sidebar.bounding_box()
    assert box is not None
    assert box["x"] < 200
    front_end.server.change_setting("sidebar", {}, package="jupyter-mlgpu")


def test_a_page_without_notebooks_is_left_alone(front_end: Lab) -> None:
    """Notebook 7 opens on a list of files, JupyterLab on its launcher."""
    said: list[ConsoleMessage] = []
    front_end.page.on("console", lambda message: said.append(message))
    page = "tree" if isinstance(front_end, Notebook) else "lab"
    front_end.page.goto(f"{front_end.server.url}{page}?token=test")
    front_end.page.locator(".jp-DirListing").wait_for()
    assert [one.text for one in said if one.type == "error" and "mlgpu" in one.text] == []
