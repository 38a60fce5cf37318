"""A real JupyterLab in a real Chromium, for tests that say what a user does and sees."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, WebSocket, expect, sync_playwright

from tests.support import browser

EXTENSION = "jupyter-mlgpu"
LOAD = "%load_ext jupyter_mlgpu"
START_LIMIT = 60.0
ROOT = Path(__file__).resolve().parents[3]

# What is there at once is not waited for; what needs a kernel's start may come late on a busy machine.
expect.set_options(timeout=30_000)

Print = Callable[[str], None]


class Server:
    """A JupyterLab of its own: nothing of the user's home, configuration or notebooks."""

    def __init__(
        self, folder: Path, *, python: str = sys.executable, app: str = "lab", installed: bool = False
    ) -> None:
        """`python`: in whose environment it runs, and whether this package is installed there.

        `app`: `lab`, or `notebook` for Notebook 7.
        """
        self.root = folder / "notebooks"
        self.settings = folder / "settings"
        self._config = folder / "config"
        self._data = folder / "data"
        self._runtime = folder / "runtime"
        self._log = (folder / "server.log").open("w+b")
        for path in (self.root, self._runtime):
            path.mkdir(parents=True)
        self.change_setting("apputils-extension/notification", {"fetchNews": "false"})
        self._process = subprocess.Popen(
            [
                python, "-m", "jupyter", app, "--no-browser", "--allow-root",
                "--expose-app-in-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1",
                "--IdentityProvider.token=test", f"--ServerApp.root_dir={self.root}",
                # Whether JupyterLab is to be built anew takes two processes with each page, and is always no.
                "--ServerApp.tornado_settings={'page_config_data': {'buildCheck': False}}",
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
            env={
                **(os.environ if installed or python == sys.executable else from_another(folder)),
                "HOME": str(folder),
                "JUPYTER_MLGPU_RECEIPTS": "all",  # short cells get receipts, too
                "IPYTHONDIR": str(folder / "ipython"),
                "JUPYTER_CONFIG_DIR": str(self._config),
                "JUPYTER_DATA_DIR": str(self._data),
                "JUPYTER_RUNTIME_DIR": str(self._runtime),
                "JUPYTERLAB_SETTINGS_DIR": str(self.settings),
                "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            },
        )  # fmt: skip
        self._wait_until_it_answers()

    def change_setting(self, plugin: str, values: dict[str, Any], package: str = "@jupyterlab") -> None:
        """Write a setting of JupyterLab, or of another package; pages loaded from now on follow it."""
        path = self.settings / package / f"{plugin}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(values))

    def set_extension(self, name: str, *, enabled: bool) -> None:
        """Turn one of JupyterLab's plug-ins off or on again; pages loaded from now on follow it."""
        path = self._config / "labconfig" / "page_config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"disabledExtensions": {name: not enabled}}))

    def add_kernel(self, name: str, *, language: str) -> None:
        """Install a kernel that says it runs another language; it is a Python kernel all the same."""
        argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        self.add_kernel_command(name, argv, language=language)

    def add_kernel_command(self, name: str, argv: list[str], *, language: str = "python") -> None:
        """Install a kernel that is started by a command."""
        folder = self._data / "kernels" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kernel.json").write_text(
            json.dumps({"argv": argv, "display_name": name, "language": language})
        )

    def end_kernels(self) -> None:
        """End all kernels and forget which notebooks they belonged to."""
        with self._ask("api/sessions") as answer:
            sessions = json.load(answer)
        for session in sessions:
            self._ask(f"api/sessions/{session['id']}", method="DELETE").close()

    def log(self) -> str:
        """All that the server and its kernels have written."""
        return Path(self._log.name).read_text(errors="replace")

    def stop(self) -> None:
        """End the server and its kernels."""
        self._process.terminate()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()

    def _wait_until_it_answers(self) -> None:
        end = time.monotonic() + START_LIMIT
        while time.monotonic() < end and self._process.poll() is None:
            for file in self._runtime.glob("jpserver-*.json"):
                # The file may be there before its text is.
                with contextlib.suppress(OSError, ValueError):
                    self.url = str(json.loads(file.read_text())["url"])
                    with self._ask("api/status"):
                        return
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"JupyterLab did not start; its last words were:\n{self.log()[-3000:]}")

    def _ask(self, path: str, method: str = "GET") -> HTTPResponse:
        headers = {"Authorization": "token test"}
        request = urllib.request.Request(f"{self.url}{path}", headers=headers, method=method)
        answer: HTTPResponse = urllib.request.urlopen(request)
        return answer


def from_another(folder: Path) -> dict[str, str]:
    """Variables with which another environment finds this package: the extension and the Python of here.

    `folder` gets what is to be found there.
    """
    extensions = folder / "share" / "labextensions"
    extensions.mkdir(parents=True)
    (extensions / EXTENSION).symlink_to(ROOT / "jupyter_mlgpu" / "labextension")
    return {**os.environ, "JUPYTER_PATH": str(folder / "share"), "PYTHONPATH": str(ROOT)}


@pytest.fixture(scope="session")
def front_ends() -> str:
    """The Python with JupyterLab 4.4, Notebook 7 and JupyterHub; `make test-front-ends` makes it."""
    python = os.environ.get("JUPYTER_MLGPU_FRONT_ENDS")
    if python is None:
        pytest.skip("needs an environment of its own: run `make test-front-ends`")
    return str(Path(python).absolute())


class Lab:
    """One browser tab with JupyterLab in it."""

    def __init__(self, page: Page, server: Server) -> None:
        self.page = page
        self.server = server
        self.sent: list[str] = []
        self._reloaded = False
        page.on("websocket", self._listen)

    def stop_listening(self) -> None:
        """Note no more of what the page sends."""
        self.page.remove_listener("websocket", self._listen)

    # -- notebooks --------------------------------------------------------------------------------

    def write(self, name: str, *codes: str, kernel: str = "python3") -> Path:
        """Write a notebook with cells `cell-0`, `cell-1` and so on."""
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{number}",
                "metadata": {},
                "source": code,
                "outputs": [],
                "execution_count": None,
            }
            for number, code in enumerate(codes)
        ]
        spec = {"name": kernel, "display_name": kernel, "language": "python"}
        notebook = {"cells": cells, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}
        path = self.server.root / name
        path.write_text(json.dumps(notebook))
        return path

    def load(self, name: str) -> None:
        """Load JupyterLab afresh with one notebook, as a link to it does."""
        self.page.goto(f"{self.server.url}lab/tree/{name}?reset&token=test")

    def open(self, name: str) -> None:
        """Have a notebook open, its kernel started and the sidebar in sight."""
        self._open_or_load(name)
        self.wait_for_app()
        self.show_sidebar()

    def write_with_receipts(
        self, name: str, *bundles: dict[str, Any], codes: Sequence[str] | None = None
    ) -> None:
        """A notebook as a stranger would send it: saved outputs, no signature, a kernel we do not have."""
        codes = codes or ["model.fit(x, y)" for _ in bundles]
        path = self.write(name, *codes, kernel="not-installed")
        notebook = json.loads(path.read_text())
        for number, (cell, data) in enumerate(zip(notebook["cells"], bundles, strict=True), 1):
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "display_data", "metadata": {}, "data": data}]
        path.write_text(json.dumps(notebook))

    def open_without_kernel(self, name: str) -> None:
        """Open a notebook whose kernel is not installed, and choose to have none."""
        self._open_or_load(name)
        self.page.get_by_role("dialog").get_by_role("button", name="No Kernel").click()
        self.wait_for_notebook()
        self.show_sidebar()

    def _open_or_load(self, name: str) -> None:
        if self.page.evaluate("() => window.jupyterapp === undefined"):
            self.load(name)
            return
        self.page.evaluate("name => void jupyterapp.commands.execute('docmanager:open', {path: name})", name)
        self.page.wait_for_function(
            "name => jupyterapp.shell.currentWidget?.context?.path === name", arg=name
        )

    def reload(self) -> None:
        """Reload the page, as the browser's button does."""
        self._reloaded = True
        self.page.reload()

    def close_notebooks(self) -> None:
        """Close every notebook without saving.

        A page that was reloaded may still be restoring its notebooks, and one with an open question
        waits for an answer: such a page is left altogether.
        """
        forget_views(self.page)
        questions = self.page.locator(".jp-Dialog").count()
        if self._reloaded or questions or self.page.evaluate("() => !window.jupyterapp"):
            self.page.goto("about:blank")
        else:
            self.page.evaluate("() => [...jupyterapp.shell.widgets('main')].forEach(one => one.dispose())")

    def wait_for_app(self) -> None:
        """Wait until JupyterLab shows a notebook that has its kernel."""
        self.wait_for_notebook()
        self.page.wait_for_function("jupyterapp.shell.currentWidget.sessionContext.isReady")

    def wait_for_notebook(self) -> None:
        """Wait until JupyterLab has restored its layout and shows a notebook."""
        self.page.wait_for_function("window.jupyterapp?.shell?.currentWidget?.context?.isReady")
        self.page.evaluate("() => jupyterapp.restored.then(() => undefined)")

    def wait_until_layout_is_kept(self) -> None:
        """Wait until the server has been told which panels are open, as it is a while after a change."""
        with self.page.expect_response(
            lambda answer: "/api/workspaces/" in answer.url and answer.request.method == "PUT"
        ):
            self.page.evaluate("() => jupyterapp.commands.execute('application:toggle-left-area')")

    def focus(self, name: str) -> None:
        """Click the tab of an open notebook."""
        self.page.locator(".lm-TabBar-tabLabel", has_text=name).first.click()

    def run(self, index: int) -> None:
        """Start a cell and go on without waiting for its end."""
        self.page.evaluate(
            """index => {
                const { content } = jupyterapp.shell.currentWidget;
                content.activeCellIndex = index;
                void jupyterapp.commands.execute('notebook:run-cell');
            }""",
            index,
        )

    def run_to_end(self, index: int) -> None:
        """Run a cell and wait until it has ended."""
        self.page.evaluate(
            """async index => {
                const { content } = jupyterapp.shell.currentWidget;
                content.activeCellIndex = index;
                await jupyterapp.commands.execute('notebook:run-cell');
            }""",
            index,
        )

    def save(self) -> None:
        """Save the notebook in focus."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.context.save()")

    def restart_kernel(self) -> None:
        """Restart the kernel of the notebook in focus, without JupyterLab's question."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")

    def shut_down_kernel(self) -> None:
        """End the kernel of the notebook in focus."""
        self.page.evaluate("() => jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def cell(self, index: int) -> Locator:
        """A cell of the notebook in focus."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Notebook .jp-Cell").nth(index)

    @property
    def active(self) -> Locator:
        """The cell that has the notebook's cursor."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-Cell.jp-mod-active")

    def active_cell(self) -> int:
        """Index of that cell."""
        index: int = self.page.evaluate("() => jupyterapp.shell.currentWidget.content.activeCellIndex")
        return index

    def kernel_status(self) -> str:
        """What JupyterLab believes the kernel does: `busy`, `idle` and so on."""
        status: str = self.page.evaluate(
            "() => jupyterapp.shell.currentWidget.sessionContext.session.kernel.status"
        )
        return status

    # -- the sidebar ------------------------------------------------------------------------------

    @property
    def sidebar(self) -> Locator:
        return self.page.locator("#jupyter-mlgpu-sidebar")

    @property
    def running(self) -> Locator:
        return self.sidebar.locator(".jp-mlgpu-Running")

    @property
    def records(self) -> Locator:
        return self.sidebar.locator(".jp-mlgpu-Row")

    @property
    def log(self) -> Locator:
        """The lines in sight in the sidebar's Logs."""
        return self.sidebar.get_by_role("region", name="Messages").locator(".jp-mlgpu-Row")

    def show_logs(self) -> None:
        """Choose the sidebar's Logs."""
        self.sidebar.get_by_role("tab", name="Messages").click()

    def open_result(self, name: str | None = None) -> Locator:
        """Open a result of the notebook as a page beside it: the one of this name, or the last."""
        if name is not None:
            self.sidebar.get_by_role("combobox", name="Result to show").select_option(label=name)
        self.sidebar.get_by_role("button", name="Open", exact=True).click()
        return self.result

    @property
    def result(self) -> Locator:
        """The page of a result that is in sight."""
        return self.page.locator(".jp-mlgpu-ResultPage:not(.lm-mod-hidden)")

    @contextlib.contextmanager
    def result_of(self, width: int) -> Iterator[None]:
        """That page is so many pixels wide for a while."""
        with self._width(self.result, width):
            yield

    @property
    def receipts(self) -> Locator:
        """The receipts under the cells of the notebook in focus."""
        return self.page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-mlgpu-Receipt")

    def show_sidebar(self) -> None:
        """Open the sidebar, as the command palette does."""
        self.page.evaluate("() => jupyterapp.commands.execute('jupyter-mlgpu:open')")
        self.sidebar.wait_for()

    @contextlib.contextmanager
    def sidebar_of(self, width: int) -> Iterator[None]:
        """The sidebar is so many pixels wide for a while; JupyterLab sets its width but once."""
        with self._width(self.sidebar, width):
            yield

    @contextlib.contextmanager
    def _width(self, panel: Locator, width: int) -> Iterator[None]:
        style = "panel => [panel.style.minWidth, panel.style.width]"
        before = panel.evaluate(style)
        put = "(panel, sizes) => { [panel.style.minWidth, panel.style.width] = sizes; }"
        panel.evaluate(put, ["0", f"{width}px"])
        try:
            yield
        finally:
            panel.evaluate(put, before)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framesent", self._note_frame)

    def _note_frame(self, frame: str | bytes) -> None:
        self.sent.append(frame if isinstance(frame, str) else frame.decode(errors="replace"))


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    executable = browser.on_path()
    reason = browser.why_it_does_not_start(executable)
    if reason is not None:
        pytest.fail(
            f"The browser tests need a Chromium and none starts ({reason}): run `make browser`, which "
            "installs one, or install chromium or Google Chrome.",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        chrome = playwright.chromium.launch(executable_path=executable)
        yield chrome
        chrome.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    # tests/packaging names an environment in which a wheel is installed.
    python = os.environ.get("JUPYTER_MLGPU_LAB", sys.executable)
    server = Server(tmp_path_factory.mktemp("jupyter"), python=python, installed=True)
    yield server
    server.stop()


def forget_views(page: Page) -> None:
    """Which of the sidebar's views was chosen, by the name of a notebook: the next one may have that name."""
    if page.url != "about:blank":
        page.evaluate("() => sessionStorage.clear()")


@pytest.fixture
def chinese(server: Server, page: Page) -> Iterator[None]:
    """JupyterLab in Chinese, without a language pack, in a page loaded afresh; and none of it afterwards."""
    server.change_setting("translation-extension/plugin", {"locale": "zh_CN"})
    page.goto("about:blank")
    yield
    server.change_setting("translation-extension/plugin", {"locale": "default"})
    forget_views(page)
    page.goto("about:blank")


@pytest.fixture(scope="session")
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """One window for all tests, so that JupyterLab's files come from its cache."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB")
    context.set_default_timeout(60_000)
    yield context
    context.close()


@pytest.fixture(scope="session")
def page(context: BrowserContext) -> Page:
    return context.new_page()


@pytest.fixture
def lab(page: Page, server: Server) -> Iterator[Lab]:
    """JupyterLab in one tab for all tests, with nothing open; kernels end with the test."""
    lab = Lab(page, server)
    yield lab
    lab.close_notebooks()
    lab.stop_listening()
    server.end_kernels()


@pytest.fixture
def new_tab(context: BrowserContext, server: Server) -> Iterator[Callable[[], Lab]]:
    """Opens further tabs of the same window; they are closed after the test."""
    tabs: list[Lab] = []

    def open_tab() -> Lab:
        tabs.append(Lab(context.new_page(), server))
        return tabs[-1]

    yield open_tab
    for tab in tabs:
        tab.page.close()


@pytest.fixture
def picture_lab(chromium: Browser, server: Server) -> Iterator[Lab]:
    """JupyterLab in a window of a picture's size, with sharp letters."""
    context = chromium.new_context(viewport={"width": 1200, "height": 760}, device_scale_factor=2)
    context.set_default_timeout(60_000)
    yield Lab(context.new_page(), server)
    context.close()
    server.end_kernels()


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Print:
    """Prints a figure where `make` shows it."""

    def tell(words: str) -> None:
        with capsys.disabled():
            print(f"\n    {words}", end="")

    return tell


class Gate:
    """A file that a cell waits for, so that a test decides when the cell ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cell = (
            f"import pathlib, time\nwhile not pathlib.Path({str(path)!r}).exists():\n    time.sleep(0.01)"
        )

    def open(self) -> None:
        self.path.touch()


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    gate = Gate(tmp_path / "go")
    yield gate
    gate.open()


@pytest.fixture
def our_settings(server: Server, page: Page) -> Iterator[Callable[..., None]]:
    """Sets our settings, in a page loaded afresh, until the test has ended."""

    def change(**values: object) -> None:
        server.change_setting("sidebar", values, "jupyter-mlgpu")
        page.goto("about:blank")

    yield change
    change()
