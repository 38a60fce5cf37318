"""The class of docs/first-class.md: five students do lab 1, and their teacher grades it, also by hand.

The pictures of that page are written to docs/images where JUPYTER_MLGPU_SCREENSHOTS is set, as
`make screenshots` does.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.pages import five_students
from tests.pages.five_students import LAB
from tests.support.pictures import folder_for, with_few_colours
from tests.support.waiting import until
from tests.teach.classes.course import Course, needs_a_sandbox

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.needs("nbgrader"), pytest.mark.needs("playwright"), needs_a_sandbox]

SMALL = 90_000
COMMENT = "Right. Say how you found the figure, too."


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    course = Course(tmp_path_factory.mktemp("class") / "course", LAB)
    assert course.command("release") == 0
    five_students.main(course.folder, course.inbox)
    assert course.command("collect", "--from", str(course.inbox)) == 0
    assert course.command("grade") == 0
    return course


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    from tests.support import browser

    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser.on_path())
        yield chrome
        chrome.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(device_scale_factor=1.5, color_scheme="light")
    yield context.new_page()
    context.close()


@pytest.fixture
def form_grader(graded: Course, tmp_path: Path) -> Iterator[str]:
    """The address of nbgrader's form, in a Jupyter server that was started in the course's folder."""
    printed = tmp_path / "server.txt"
    options = ("--no-browser", "--allow-root", "--ServerApp.port=0", "--IdentityProvider.token=t")
    environment = {**os.environ, "HOME": str(tmp_path), "JUPYTER_RUNTIME_DIR": str(tmp_path)}
    with (
        printed.open("wb") as output,
        subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=graded.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        ) as server,
    ):
        try:
            yield until(lambda: address_in(printed), "the server did not say where it is")
        finally:
            server.terminate()


def address_in(printed: Path) -> str | None:
    found = re.search(r"http://127\.0\.0\.1:\d+(?=/\S*\?token=)", printed.read_text("utf-8", "replace"))
    return found[0] if found else None


def take(page: Page, name: str, folder: Path, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    path = folder_for(folder) / f"{name}.png"
    page.screenshot(path=path)
    with_few_colours(path, 64)
    assert 8_000 < path.stat().st_size < SMALL


def test_screenshots_of_a_class_from_grading_to_what_it_gets_back(
    graded: Course, page: Page, form_grader: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    five_students.main(graded.folder)
    give_two_points(page, form_grader)
    take(page, "class-by-hand", tmp_path, 1000, 420)

    assert graded.command("grade") == 0
    said = capsys.readouterr().out
    assert "ada: 17 of 17 points\nbob: 8 of 17 points, 2 more for you to give\n" in said
    assert COMMENT in graded.feedback("ada")

    assert graded.command("report") == 0
    page.goto((graded.folder / "class_report.html").as_uri())
    take(page, "class-report", tmp_path, 860, 505)
    page.get_by_role("link", name=f"bob, {LAB}").click()
    take(page, "class-feedback", tmp_path, 1000, 520)


def give_two_points(page: Page, address: str) -> None:
    """Do for Ada's answer what docs/first-class.md says about it, from JupyterLab's menu entry on."""
    page.goto(f"{address}/formgrader?token=t")
    page.get_by_role("link", name="Manual Grading").click()
    for _ in range(2):
        page.get_by_role("link", name=LAB, exact=True).click()
    # Names are hidden until one asks for them.
    page.get_by_role("row").filter(has_text="15 / 17").get_by_role("link").click()
    page.locator("#in-words").fill("2")
    comment = page.locator("#in-words-comment")
    comment.fill(COMMENT)
    with page.expect_response(lambda one: "/comment/" in one.url and one.request.method == "PUT"):
        comment.blur()
    comment.scroll_into_view_if_needed()
