"""The page behind a Binder link: JupyterLab, started as in the container, in Chromium."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.binder.conftest import Image
from tests.support import browser

TOKEN = "binder"
PATIENCE = 180.0


@pytest.fixture
def server(built: Image) -> Iterator[str]:
    """The address of the server; it is started by binder/start, with the command of repo2docker's images."""
    runtime = built.home / "runtime"
    with (built.home / "server.log").open("w") as log:
        process = subprocess.Popen(
            [
                *("./binder/start", "jupyter", "notebook", "--ip=127.0.0.1", "--ServerApp.port=0"),
                *("--no-browser", "--allow-root", f"--IdentityProvider.token={TOKEN}"),
            ],
            cwd=built.repository,
            env={**built.variables, "JUPYTER_RUNTIME_DIR": str(runtime)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield address(runtime, process, Path(log.name))
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(timeout=60)


def address(runtime: Path, process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the server's address, once it answers."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        for file in runtime.glob("jpserver-*.json"):
            try:
                url = str(json.loads(file.read_text())["url"])
                urllib.request.urlopen(f"{url}api/status?token={TOKEN}", timeout=10).close()
            except (OSError, ValueError):
                continue
            return url
        time.sleep(0.05)
    raise AssertionError(f"The server did not start; its last words were:\n{log.read_text()[-3000:]}")


@pytest.fixture
def page() -> Iterator[Page]:
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser.on_path())
        yield chrome.new_page(viewport={"width": 1400, "height": 900})
        chrome.close()


@pytest.mark.parametrize(
    ("path", "heading"), [("lab", "0 · Start here"), ("lab/workspaces/zh", "0 · 从这里开始")]
)
def test_a_reader_meets_the_first_lesson_with_the_sidebar_and_a_gpus_records_one_tab_further(
    server: str, page: Page, path: str, heading: str
) -> None:
    page.goto(f"{server}{path}?token={TOKEN}")
    tabs = page.locator("#jp-main-dock-panel .lm-TabBar-tab")
    expect(tabs).to_have_text(["00_start_here.ipynb", "a_real_gpu.ipynb"], timeout=60_000)
    expect(page.locator("#jp-main-dock-panel .lm-mod-current")).to_have_text("00_start_here.ipynb")
    expect(page.get_by_role("heading", name=heading)).to_be_visible(timeout=60_000)
    expect(page.locator("#jupyter-mlgpu-sidebar")).to_be_visible()

    tabs.nth(1).click()
    receipts = page.locator(".jp-mlgpu-Receipt").filter(has_text="replayed")
    expect(receipts.first).to_be_visible(timeout=60_000)
