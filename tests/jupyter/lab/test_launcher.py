"""The card for the lessons: where there are none it copies them and says where, and opens the first one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import Locator, Page, expect

from jupyter_mlgpu.teach.commands.card import FOLDER
from jupyter_mlgpu.teach.lessons import shipped
from tests.jupyter.lab.conftest import Lab, Server

if TYPE_CHECKING:
    from pathlib import Path

FIRST = "00_start_here.ipynb"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server in whose folder no other test has put lessons."""
    server = Server(tmp_path_factory.mktemp("launcher"))
    yield server
    server.stop()


@pytest.fixture
def fresh(page: Page, own: Server) -> Iterator[Lab]:
    """JupyterLab with nothing open, in a folder without lessons."""
    lab = Lab(page, own)
    yield lab
    lab.stop_listening()
    page.goto("about:blank")
    own.end_kernels()
    own.change_setting("translation-extension/plugin", {"locale": "default"})
    for path in own.root.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def card(lab: Lab, name: str = "Lessons") -> Locator:
    """The launcher's card, in a page loaded afresh."""
    lab.page.goto(f"{lab.server.url}lab?reset&token=test")
    found = lab.page.locator(".jp-LauncherCard").filter(has=lab.page.get_by_text(name, exact=True))
    expect(found).to_be_visible()
    return found


def notice(lab: Lab) -> Locator:
    return lab.page.locator(".Toastify__toast")


def wait_for(lab: Lab, path: str) -> None:
    """Until this notebook is open and in focus."""
    lab.page.wait_for_function("path => jupyterapp.shell.currentWidget?.context?.path === path", arg=path)


def copied(root: Path) -> set[str]:
    """The notebooks in a folder, without the checkpoints that JupyterLab makes of those it opens."""
    return {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.ipynb")
        if ".ipynb_checkpoints" not in path.parts
    }


def test_the_card_copies_the_lessons_says_where_they_are_and_opens_the_first(fresh: Lab) -> None:
    found = card(fresh)
    about = "Open the first lesson. Lessons that are not in your folder yet are copied there."
    expect(found).to_have_attribute("title", about)
    found.focus()
    fresh.page.keyboard.press("Enter")
    wait_for(fresh, f"{FOLDER}/{FIRST}")
    wanted = {path.as_posix() for path in shipped.files("en")}
    assert copied(fresh.server.root / FOLDER) == wanted
    expect(notice(fresh)).to_contain_text(f"Copied {len(wanted)} files to")
    expect(notice(fresh)).to_contain_text(FOLDER)
    # The lesson stands where the launcher was.
    expect(fresh.page.locator(".jp-Launcher")).to_have_count(0)


@pytest.mark.slow
def test_lessons_that_are_there_are_opened_as_they_are(fresh: Lab) -> None:
    mine = fresh.server.root / "my-lessons"
    shutil.copytree(shipped.folder(), mine, ignore=lambda _, names: [one for one in names if "." not in one])
    card(fresh).click()
    wait_for(fresh, f"my-lessons/{FIRST}")
    assert not (fresh.server.root / FOLDER).exists()
    expect(notice(fresh)).to_have_count(0)


@pytest.mark.slow
def test_a_chinese_jupyterlab_has_a_chinese_card_for_the_chinese_lessons(fresh: Lab) -> None:
    fresh.server.change_setting("translation-extension/plugin", {"locale": "zh_CN"})
    card(fresh, "课程").click()
    wait_for(fresh, f"{FOLDER}/zh/{FIRST}")
    expect(notice(fresh)).to_contain_text("个文件")


def test_what_is_in_the_way_is_said_and_nothing_is_opened(fresh: Lab) -> None:
    (fresh.server.root / FOLDER).write_text("a file of that name", encoding="utf-8")
    card(fresh).click()
    dialog = fresh.page.get_by_role("dialog")
    expect(dialog).to_contain_text("is not a folder: move it away, or choose another folder.")
    dialog.get_by_role("button").last.click()
    assert (fresh.server.root / FOLDER).read_text(encoding="utf-8") == "a file of that name"
