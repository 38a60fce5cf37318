"""The demo, built from the wheel and served from its folder."""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import demo_site
import pytest


class Server(ThreadingHTTPServer):
    """A server of files that knows what it has sent."""

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.sent: list[tuple[str, int]] = []

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: a browser that is closed hangs up."""

    @property
    def address(self) -> str:
        """The address of the demo's folder."""
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(SimpleHTTPRequestHandler):
    """Answers with a file as it is, and writes down its size; 501 for what files cannot answer."""

    server: Server

    def send_header(self, keyword: str, value: str) -> None:
        if keyword == "Content-Length":
            self.server.sent.append((self.path, int(value)))
        super().send_header(keyword, value)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the demo."""
    folder = os.environ.get("JUPYTER_MLGPU_WHEEL")
    if folder is None:
        pytest.skip("needs the wheel and an environment of its own: run `make test-demo`")
    (wheel,) = Path(folder).glob("*.whl")
    out = tmp_path_factory.mktemp("demo")
    assert demo_site.build(wheel, out) == 0
    return out / "site"


@pytest.fixture
def server(site: Path) -> Iterator[Server]:
    with Server(site) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        yield serving
        serving.shutdown()
        thread.join()
