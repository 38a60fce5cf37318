"""The pages in a real browser: they stay up to date, and take neither focus nor place from who reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("sqlalchemy", reason="needs SQLAlchemy: run `make test-teacher`")
pytest.importorskip("playwright", reason="needs Playwright: run `make test-teacher`")

from playwright.sync_api import Browser, Page, expect, sync_playwright

from jupyter_mlgpu.teach.teacher.frame import EVERY
from jupyter_mlgpu.testing.hub import PREFIX, RunningService, StandInHub
from tests.support import browser as browsers
from tests.teach.teacher.conftest import Kernel

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browsers.on_path(), args=["--no-sandbox"])
        yield chrome
        chrome.close()


@pytest.fixture
def own(start: Callable[..., RunningService], tmp_path_factory: pytest.TempPathFactory) -> RunningService:
    """A service with a class of its own."""
    return start(f"sqlite:///{tmp_path_factory.mktemp('own')}/kept.sqlite")


@pytest.fixture
def view(chromium: Browser, hub: StandInHub, own: RunningService) -> Iterator[Open]:
    """Opens a teacher's view of a path, in a window whose clock the test moves; it must have no errors."""
    hub.person("tess", ("teachers",))
    contexts, errors = [], []

    def opened(path: str = "", **options: object) -> Page:
        context = chromium.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(error))
        page.clock.install()
        page.goto(f"{hub.url}/hub/login?user=tess")
        page.goto(f"{own.url}{PREFIX}{path}")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert errors == []


def send(hub: StandInHub, service: RunningService, kernel: Kernel, name: str, *numbers: int) -> None:
    assert service.post(hub.person(name), kernel.report(*numbers))[0] == 200


def next_update(page: Page) -> None:
    page.clock.run_for(EVERY * 1000)


def row(name: str) -> str:
    return f"tr[data-key={name}]"


def test_a_row_changes_in_place_and_the_focus_stays(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "bob", 1)
    page = view()
    page.evaluate("window.link = document.querySelector('tbody a'); link.focus()")
    send(hub, own, kernel, "bob", 2)
    send(hub, own, Kernel(), "ada", 1)
    next_update(page)
    expect(page.locator(row("bob"))).to_contain_text("[6]: ok")
    assert page.locator("tbody tr").evaluate_all("rows => rows.map(one => one.dataset.key)") == ["ada", "bob"]
    assert page.evaluate("link.isConnected && document.activeElement === link && link.textContent") == "bob"


def test_only_the_state_of_the_updates_is_read_aloud(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "ada", 1)
    page = view()
    spoken = page.locator("[aria-live], [role=status], [role=alert], [role=log]")
    expect(spoken).to_have_text([f"Live: updated every {EVERY} s."])
    page.evaluate("""
        window.spoken = 0;
        new MutationObserver(() => spoken++).observe(
            document.querySelector("[role=status]"), {childList: true, characterData: true, subtree: true});
    """)
    send(hub, own, kernel, "ada", 2)
    next_update(page)
    expect(page.locator(row("ada"))).to_contain_text("[6]: ok")
    assert page.evaluate("spoken") == 0


@pytest.mark.parametrize("focused", [True, False])
def test_what_a_reader_looks_at_does_not_move_where_rows_come_above_it(
    hub: StandInHub, own: RunningService, view: Open, focused: bool
) -> None:
    for number in range(20):
        send(hub, own, Kernel(), f"student-{number:02}", 1)
    page = view(viewport={"width": 1200, "height": 300})
    read = page.locator(row("student-10"))
    read.evaluate(
        "(row, focused) => { row.scrollIntoView(); if (focused) row.querySelector('a').focus(); }", focused
    )
    before = read.bounding_box()
    for number in range(5):
        send(hub, own, Kernel(), f"a-new-one-{number}", 1)
    next_update(page)
    expect(page.locator("tbody tr")).to_have_count(25)
    after = read.bounding_box()
    assert before is not None
    assert after is not None
    assert after["y"] == pytest.approx(before["y"], abs=1)


def test_on_a_student_s_page_the_newest_receipt_comes_on_top(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "ada", 1)
    page = view("students/ada")
    send(hub, own, kernel, "ada", 2)
    next_update(page)
    expect(page.locator("tbody tr td:nth-child(4)")).to_have_text(["[6]", "[5]"])


def test_the_first_student_appears_on_an_empty_page(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    page = view()
    expect(page.locator("main")).to_contain_text("No student has sent anything yet.")
    send(hub, own, kernel, "ada", 1)
    next_update(page)
    expect(page.locator(row("ada"))).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("No student has sent anything yet.")


def test_a_paused_page_stays_as_it_is_until_it_is_resumed(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "ada", 1)
    page = view()
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_role("status")).to_have_text("Updates are paused.")
    send(hub, own, kernel, "ada", 2)
    next_update(page)
    expect(page.locator(row("ada"))).to_contain_text("[5]: ok")
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(row("ada"))).to_contain_text("[6]: ok")


def test_a_page_says_when_the_service_is_away_and_after_a_restart_that_it_has_to_be_loaded_again(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "ada", 1)
    page = view()
    own.kill()
    next_update(page)
    expect(page.get_by_role("status")).to_contain_text("The service does not answer")
    expect(page.locator(row("ada"))).to_be_visible()
    own.start()  # with another secret for its cookies
    next_update(page)
    expect(page.get_by_role("status")).to_contain_text("You are signed out")
    page.get_by_role("link", name="Reload").click()
    expect(page.get_by_role("status")).to_contain_text("Live")


def test_without_javascript_the_link_reloads(
    hub: StandInHub, own: RunningService, view: Open, kernel: Kernel
) -> None:
    send(hub, own, kernel, "ada", 1)
    page = view(java_script_enabled=False)
    expect(page.locator("#live")).to_be_hidden()
    send(hub, own, kernel, "ada", 2)
    page.get_by_role("link", name="Reload").click()
    expect(page.locator(row("ada"))).to_contain_text("[6]: ok")
