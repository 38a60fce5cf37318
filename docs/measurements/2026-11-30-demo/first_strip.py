"""Measures a built demo: what is sent until its first strip is seen, and after how many seconds.

python docs/measurements/2026-11-30-demo/first_strip.py build/demo/site
"""

from __future__ import annotations

import functools
import os
import statistics
import sys
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.support import browser

RUNS = 5


class Handler(SimpleHTTPRequestHandler):
    """Sends files as they are, not compressed, and adds up their bytes."""

    protocol_version = "HTTP/1.1"
    sent = 0

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Content-Length":
            Handler.sent += int(value)
        super().send_header(keyword, value)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def main(site: Path) -> None:
    """Open the demo in new profiles, and print the seconds and megabytes of each run and their medians."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seconds, megabytes = [], []
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=browser.on_path())
        for _ in range(RUNS):
            page = chrome.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            Handler.sent = 0
            begun = time.perf_counter()
            page.goto(f"http://127.0.0.1:{server.server_port}/")
            page.locator(".jp-mlgpu-Strip svg").first.wait_for()
            seconds.append(time.perf_counter() - begun)
            megabytes.append(Handler.sent / 1e6)
            print(f"{seconds[-1]:.1f} s, {megabytes[-1]:.1f} MB, load {os.getloadavg()[0]:.1f}")
            page.context.close()
    print(f"median {statistics.median(seconds):.1f} s, {statistics.median(megabytes):.1f} MB")
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
