"""The demo in Chromium, served as files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.demo.conftest import Server
from tests.support import browser

pytestmark = pytest.mark.needs("jupyterlite_core")

#: Milliseconds, on a busy machine too.
PATIENCE = 60_000
#: Most bytes until the first strip is seen.
MOST_BYTES = 30_000_000


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser.on_path())
        yield chrome.new_page(viewport={"width": 1400, "height": 1000})
        chrome.close()


def opened(page: Page, server: Server) -> None:
    """Open the demo, and wait until its first strip and its sidebar are seen."""
    page.goto(server.address)
    expect(page.locator(".jp-mlgpu-Strip svg").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#jupyter-mlgpu-sidebar")).to_be_visible(timeout=PATIENCE)


def test_a_visitor_sees_a_strip_and_the_sidebar_with_less_than_30_megabytes_and_no_kernel(
    page: Page, server: Server
) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Plugin" in message.text else None)
    opened(page, server)
    paths = [path for path, _ in server.sent]
    assert sum(size for _, size in server.sent) < MOST_BYTES
    assert not [path for path in paths if "pyodide" in path or ".wasm" in path or ".map" in path]
    expect(page.locator("#jupyter-mlgpu-sidebar")).to_contain_text(
        "From the saved notebook", timeout=PATIENCE
    )
    assert errors == []


def test_running_a_cell_says_where_cells_run_and_keeps_what_was_recorded(page: Page, server: Server) -> None:
    opened(page, server)
    receipts = page.locator(".jp-mlgpu-Receipt")
    before = receipts.count()
    page.locator(".jp-CodeCell").filter(has_text="train(loader").locator(".jp-InputArea-prompt").click()
    page.keyboard.press("Shift+Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("This page has no kernel")
    expect(dialog).to_contain_text("make lab")
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    assert receipts.count() == before


def test_a_receipt_opens_with_its_evidence_and_the_sidebar_sums_the_notebook_up_without_a_server(
    page: Page, server: Server
) -> None:
    opened(page, server)
    receipt = page.locator(".jp-mlgpu-Receipt").filter(has_text="2.85 s").first
    receipt.get_by_role("button").first.click()
    expect(receipt).to_contain_text("Preparing data took about 80 % of the time", timeout=PATIENCE)
    expect(receipt).to_contain_text("How it was measured")
    expect(page.locator(".jp-mlgpu-NotebookAnswer")).to_contain_text("the GPU worked", timeout=PATIENCE)


def test_comparing_two_receipts_says_why_it_does_not_work_here(page: Page, server: Server) -> None:
    opened(page, server)
    sidebar = page.locator("#jupyter-mlgpu-sidebar")
    for box in sidebar.get_by_role("checkbox").all()[:2]:
        box.check()
    sidebar.get_by_role("button", name="Compare").click()
    expect(sidebar).to_contain_text("This page has no server, which compares receipts.", timeout=PATIENCE)


def test_the_button_for_tracing_says_that_there_is_no_kernel_and_what_the_sidebar_has(
    page: Page, server: Server
) -> None:
    opened(page, server)
    page.get_by_role("button", name="no kernel", exact=True).click()
    sidebar = page.locator("#jupyter-mlgpu-sidebar")
    expect(sidebar).to_contain_text("This notebook has no kernel.")
    expect(sidebar).to_contain_text("Live figures need a kernel.")


def test_chinese_is_one_click_away_and_a_strip_that_a_hidden_tab_shows_too_is_painted(
    page: Page, server: Server
) -> None:
    opened(page, server)
    page.get_by_role("link", name="中文").first.click()
    expect(page.locator("#jupyter-mlgpu-sidebar")).to_contain_text("来自已保存的笔记本", timeout=PATIENCE)
    expect(page.locator(".jp-mlgpu-Strip svg:visible").first).to_be_visible(timeout=PATIENCE)
    patterns = page.locator(".jp-mlgpu-Strip pattern").evaluate_all("found => found.map(one => one.id)")
    assert len(set(patterns)) == len(patterns) > 0


def test_the_race_and_the_plan_are_drawn_by_our_own_view(page: Page, server: Server) -> None:
    opened(page, server)
    for words in ("gpu:0 is faster from n = 316 on", "8 of 9 operations would run on the GPU"):
        result = page.locator(".jp-OutputArea-output").filter(has_text=words).first
        result.scroll_into_view_if_needed(timeout=PATIENCE)
        expect(result.locator("svg").first).to_be_visible()


def test_all_that_the_page_asks_of_our_server_is_there_as_a_file(site: Path) -> None:
    for language in ("zh", "zh_CN"):
        assert (site / "jupyter-mlgpu" / "texts" / language).is_file()
        assert (site / "jupyter-mlgpu" / "messages" / language).is_file()
