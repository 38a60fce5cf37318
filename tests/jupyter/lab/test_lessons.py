"""Every lesson in JupyterLab, as it is saved: the sidebar's list, the receipts and the pictures are drawn."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import ConsoleMessage, Error, Locator, Page, expect
from tracked import tracked

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE
from jupyter_mlgpu.teach.lessons import shipped

if TYPE_CHECKING:
    from tests.jupyter.lab.conftest import Lab

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"
EVERY = tracked(LESSONS, "*.ipynb")
#: The first one among the tests of every change, the others beyond them.
FIRST_OF_ALL = [EVERY[0], *(pytest.param(path, marks=pytest.mark.slow) for path in EVERY[1:])]
EXTENSION = "jupyter-mlgpu"

#: What a program shows by mistake, in place of a value.
MISTAKES = re.compile(r"\bundefined\b|\bNaN\b|\[object Object\]|javascript error", re.IGNORECASE)

#: Whether an element of the page has the pictures of an output in it, each as large as a picture.
DRAWN = """output => {
    const pictures = [...output.querySelectorAll('img, svg, canvas')].map(one => {
        const { width, height } = one.getBoundingClientRect();
        const loaded = one.tagName !== 'IMG' || (one.complete && one.naturalWidth > 0);
        return loaded && width >= 20 && height >= 20;
    });
    return pictures.length > 0 && pictures.some(Boolean);
}"""

#: Whether a cell of the notebook in focus has the cursor, and the keyboard's focus.
IS_REACHED = """index => {
    const { content } = jupyterapp.shell.currentWidget;
    return content.activeCellIndex === index && content.activeCell.node.contains(document.activeElement);
}"""


class Lesson:
    """What Python reads from a saved lesson."""

    def __init__(self, path: Path) -> None:
        self.name = path.relative_to(LESSONS).as_posix() if path.is_relative_to(LESSONS) else path.name
        self.cells: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]

    def index(self, name: str) -> int:
        """The place of the cell with an id."""
        return [cell["id"] for cell in self.cells].index(name)

    @property
    def traced(self) -> list[tuple[int, Record]]:
        """Each receipt with the place of its cell, in the order in which the cells ran."""
        found = [
            (index, Record.from_json(output["data"][MIME_TYPE]))
            for index, cell in enumerate(self.cells)
            for output in cell.get("outputs", [])
            if MIME_TYPE in output.get("data", {})
        ]
        return sorted(found, key=lambda one: one[1].started_at)

    def pictures(self, index: int) -> list[int]:
        """Which outputs of a cell are pictures, as JupyterLab counts: what is printed in a row is one."""
        outputs = self.cells[index]["outputs"]
        joined = [
            one
            for number, one in enumerate(outputs)
            if number == 0
            or not (one.get("name") is not None and one["name"] == outputs[number - 1].get("name"))
        ]
        return [number for number, output in enumerate(joined) if is_picture(output)]

    @property
    def text(self) -> str:
        """All that its outputs hold."""
        return json.dumps([cell.get("outputs", []) for cell in self.cells], ensure_ascii=False)


def is_picture(output: dict[str, Any]) -> bool:
    """Whether it is drawn at once; a receipt draws the cell's place under the roof when it is opened."""
    data = output.get("data", {})
    if MIME_TYPE in data:
        return False
    html = "".join(data.get("text/html", ""))
    return "image/png" in data or "image/svg+xml" in data or "<img" in html or "<svg" in html


@pytest.fixture
def complaints(page: Page) -> Iterator[list[str]]:
    """Errors that our own scripts wrote to the console, or did not catch; JupyterLab has some of its own."""
    found: list[str] = []

    def note(text: str) -> None:
        if f"extensions/{EXTENSION}/" in text:
            found.append(text)

    def note_console(message: ConsoleMessage) -> None:
        if message.type == "error":
            note(f"{message.text} {message.location}")

    def note_error(error: Error) -> None:
        note(f"{error.message} {error.stack}")

    page.on("console", note_console)
    page.on("pageerror", note_error)
    yield found
    page.remove_listener("console", note_console)
    page.remove_listener("pageerror", note_error)


def open_copy(lab: Lab, path: Path, heading: str = "From the saved notebook") -> Lesson:
    """Open a copy of a lesson, as it is saved, with the sidebar beside it."""
    lesson = Lesson(path)
    copy = lab.server.root / lesson.name
    copy.parent.mkdir(exist_ok=True)
    shutil.copy(path, copy)
    lab.open(lesson.name)
    expect(lab.sidebar.get_by_role("heading", name=heading)).to_be_visible()
    return lesson


def row(lab: Lab, place: int, of: int) -> Locator:
    """A row of the list, counted from 1; only those near the ones in sight are in the page."""
    return lab.sidebar.locator(f"li[aria-posinset='{place}'][aria-setsize='{of}']")


def mistakes(text: str) -> set[str]:
    return set(MISTAKES.findall(text))


@pytest.mark.parametrize("path", FIRST_OF_ALL, ids=lambda path: path.stem)
def test_a_lesson_opens_with_its_cells_in_the_sidebar_and_its_receipts_and_pictures_drawn(
    lab: Lab, path: Path, complaints: list[str]
) -> None:
    lesson = open_copy(lab, path)
    newest_first = lesson.traced[::-1]
    for place, (index, record) in enumerate(newest_first, 1):
        # JupyterLab takes cells into the page as they come near: counted in the page, they are others.
        listed, cell = row(lab, place, of=len(newest_first)), lab.active
        expect(listed.locator(".jp-mlgpu-Name")).to_have_text(record.cell.name)
        listed.locator(".jp-mlgpu-Go").click()
        # It moves the focus a little later; a click before that would be undone by it.
        lab.page.wait_for_function(IS_REACHED, arg=index)
        receipt = cell.locator(".jp-mlgpu-Receipt")
        expect(receipt).to_have_count(1)
        expect(receipt).to_be_visible()
        expect(cell).to_be_in_viewport()
        for number in lesson.pictures(index):
            output = cell.locator(".jp-OutputArea-child").nth(number)
            lab.page.wait_for_function(DRAWN, arg=output.element_handle())
    assert not mistakes(lab.sidebar.inner_text())
    assert not mistakes("\n".join(lab.receipts.all_inner_texts()))
    # What the lesson prints itself, such as a log's <undefined>, is no mistake of ours.
    outputs = lab.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea").all_inner_texts()
    assert mistakes("\n".join(outputs)) <= mistakes(lesson.text)

    _, longest = max(lesson.traced, key=lambda one: one[1].reading("wall_time").value or 0)
    lab.sidebar.get_by_label("Sort by").select_option(label="Wall time")
    first = row(lab, 1, of=len(lesson.traced))
    expect(first.locator(".jp-mlgpu-Name")).to_have_text(longest.cell.name)
    first.locator(".jp-mlgpu-Toggle").click()
    page = lab.sidebar.locator(".jp-mlgpu-Page")
    expect(page.locator(".jp-mlgpu-Name")).to_have_text(longest.cell.name)
    for note in longest.notes:
        expect(page).to_contain_text(note)
    assert not mistakes(page.inner_text())
    assert complaints == []


@pytest.mark.slow
def test_a_chinese_lesson_opens_in_a_chinese_jupyterlab(
    lab: Lab, chinese: None, complaints: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "00_start_here.ipynb"
    path.write_bytes(shipped.content(Path("zh") / path.name))
    lesson = open_copy(lab, path, heading="来自已保存的笔记本")
    names = [record.cell.name for _, record in lesson.traced]
    expect(lab.records.locator(".jp-mlgpu-Name").first).to_have_text(names[-1])
    expect(lab.receipts).to_have_count(len(names), timeout=20_000)
    assert not mistakes(lab.sidebar.inner_text() + "\n".join(lab.receipts.all_inner_texts()))
    assert complaints == []


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        pytest.param("00_start_here.ipynb", ["load", "first", "predict", "sleep"], marks=pytest.mark.slow),
        pytest.param(
            "02_adding_tensors.ipynb", ["load", "import", "numbers", "at-once"], marks=pytest.mark.slow
        ),
    ],
)
def test_the_sidebar_follows_the_first_cells_of_a_lesson_as_they_run(
    lab: Lab, name: str, cells: list[str], complaints: list[str]
) -> None:
    lesson = open_copy(lab, LESSONS / name)
    names = {index: record.cell.name for index, record in lesson.traced}
    load, *others = map(lesson.index, cells)
    lab.run_to_end(load)
    for ran, index in enumerate(others, 1):
        lab.run_to_end(index)
        # What this kernel has run stands above the records of the saved notebook, the newest on top.
        for place, one in enumerate(reversed(others[:ran])):
            expect(lab.records.nth(place).locator(".jp-mlgpu-Name")).to_have_text(names[one])
            expect(lab.records.nth(place)).not_to_contain_text("earlier kernel")
        assert lab.active_cell() == index
        expect(lab.active.locator(".jp-mlgpu-Receipt")).to_have_count(1)
        expect(lab.active.locator(".jp-mlgpu-Receipt")).to_be_visible()
    # The sentence on top is about this kernel's cells alone, and says so.
    expect(lab.sidebar.locator(".jp-mlgpu-NotebookAnswer")).to_contain_text("This kernel: ", timeout=20_000)
    # Below, the saved receipts stand as they were.
    expect(lab.receipts).to_have_count(len(lesson.traced), timeout=20_000)
    assert complaints == []
