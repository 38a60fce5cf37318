"""What the labextension adds to JupyterLab's start, in a real Chromium.

Each start loads the page with an empty workspace, from the browser's cache, and is timed by the page itself:
from its navigation to JupyterLab's having restored its layout. For comparison the same server lists the
extension as disabled, and then the page fetches nothing of it.

Exit status 1: a cost that is above its target beyond doubt.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks import machine, report
from benchmarks.pairing import Pair, times
from benchmarks.progress import with_progress
from benchmarks.report import quartiles
from jupyter_mlgpu.explain.statistics import median_interval
from tests.support import browser

PAIRS = 11
#: Seconds that the extension may add to JupyterLab's start, in the median.
TARGET = 0.100
EXTENSION = "jupyter-mlgpu"
#: Seconds until the server must answer.
PATIENCE = 60.0
#: Starts before the first that counts, one of each kind: they fill the browser's cache.
WARMING = (True, False)

#: Milliseconds from the navigation's start to the restored layout, and whether the extension is there.
_RESTORED = """async () => {
    while (!window.jupyterapp) { await new Promise(done => setTimeout(done, 1)); }
    await window.jupyterapp.restored;
    return [performance.now(), window.jupyterapp.commands.hasCommand('jupyter-mlgpu:open')];
}"""


class Server:
    """A JupyterLab with nothing of the user's, in which the extension can be turned off."""

    def __init__(self, folder: Path) -> None:
        token = secrets.token_hex(16)
        self.notebooks = folder / "notebooks"
        self._config = folder / "config"
        runtime = folder / "runtime"
        for name in ("runtime", "notebooks"):
            (folder / name).mkdir()
        self._process = subprocess.Popen(
            [
                sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root",
                "--expose-app-in-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1",
                f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={self.notebooks}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={
                **os.environ,
                "JUPYTER_CONFIG_DIR": str(self._config),
                "JUPYTER_DATA_DIR": str(folder / "data"),
                "JUPYTER_RUNTIME_DIR": str(runtime),
                "JUPYTERLAB_SETTINGS_DIR": str(folder / "settings"),
                "JUPYTERLAB_WORKSPACES_DIR": str(folder / "workspaces"),
            },
        )  # fmt: skip
        self._query = f"?reset&token={token}"
        self._address = self._url(runtime, token)
        self.page = self.page_of("")

    def page_of(self, notebook: str) -> str:
        """The address of JupyterLab with one notebook, of those in `notebooks`; empty for none."""
        return f"{self._address}lab{'/tree/' * bool(notebook)}{notebook}{self._query}"

    def enable(self, on: bool) -> None:
        """Turn the extension on or off for the pages loaded from now on."""
        path = self._config / "labconfig" / "page_config.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"disabledExtensions": {EXTENSION: not on}}), encoding="utf-8")

    def stop(self) -> None:
        """End the server."""
        self._process.terminate()
        self._process.wait(timeout=30)

    def _url(self, runtime: Path, token: str) -> str:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self._process.poll() is None:
            for file in runtime.glob("jpserver-*.json"):
                with contextlib.suppress(OSError, json.JSONDecodeError):
                    url = str(json.loads(file.read_text(encoding="utf-8"))["url"])
                    urllib.request.urlopen(f"{url}api/status?token={token}").close()
                    return url
            time.sleep(0.05)
        self.stop()
        raise RuntimeError(f"JupyterLab did not answer within {PATIENCE:.0f} s.")


@contextlib.contextmanager
def running_server() -> Iterator[Server]:
    """A server in a folder of its own, for the time of the block."""
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder))
        try:
            yield server
        finally:
            server.stop()


@contextlib.contextmanager
def running_chromium() -> Iterator[Browser]:
    """A browser, for the time of the block; raises RuntimeError where none starts."""
    executable = browser.on_path()
    reason = browser.why_it_does_not_start(executable)
    if reason is not None:
        raise RuntimeError(f"This needs a Chromium, and none starts ({reason}): `make browser` finds one.")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=executable)
        try:
            yield chromium
        finally:
            chromium.close()


def start(server: Server, page: Page, on: bool) -> float:
    """Load JupyterLab once; seconds until its layout was restored."""
    server.enable(on)
    page.goto("about:blank")
    page.goto(server.page)
    milliseconds, there = page.evaluate(_RESTORED)
    if there is not on:
        raise RuntimeError(f"The extension was to be {'on' if on else 'off'}, and was not: `make install`.")
    return float(milliseconds) / 1000


def measure(pairs: int) -> list[Pair]:
    """Starts in pairs; raises RuntimeError where no browser or no JupyterLab starts."""
    with running_server() as server, running_chromium() as chromium:
        page = chromium.new_page()
        page.set_default_timeout(120_000)
        for on in WARMING:
            start(server, page, on)
        return with_progress(pairs, "Starting JupyterLab", lambda on: start(server, page, on))


def as_text(pairs: Sequence[Pair]) -> str:
    """The figures for a terminal."""
    differences = [pair.difference for pair in pairs]
    added, interval = quartiles(differences), median_interval(differences)
    verdict = report.verdict(interval, TARGET)
    rows = [
        ("without the extension", report.spread(quartiles([pair.off for pair in pairs]))),
        ("with it", report.spread(quartiles([pair.on for pair in pairs]))),
        ("difference of a pair", report.spread(added)),
        ("interval of its median", report.interval(interval)),
        ("target", f"median at most {report.ms(TARGET)}: {'yes' if added.median <= TARGET else 'no'}"),
        ("verdict", verdict),
    ]
    title = f"JupyterLab's start: {len(pairs)} interleaved pairs, to the restored layout"
    return "\n".join([title, "", report.table(rows), "", report.legend([verdict])])


def as_data(pairs: Sequence[Pair], about: Mapping[str, str]) -> dict[str, Any]:
    """The figures for a JSON file; times in seconds."""
    differences = [pair.difference for pair in pairs]
    interval = median_interval(differences)
    return {
        "benchmark": "lab_start",
        "machine": dict(about),
        "difference_s": report.as_data(quartiles(differences), interval),
        "target_s": TARGET,
        "verdict": report.verdict(interval, TARGET),
        "pairs": times(pairs),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report; returns the exit status."""
    chosen = report.options("lab_start", str(__doc__), PAIRS).parse_args(arguments)
    about = machine.describe(["jupyterlab", "playwright"])
    print(report.table(list(about.items())), end="\n\n", flush=True)
    try:
        pairs = measure(chosen.pairs)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(as_text(pairs))
    data = as_data(pairs, about)
    if chosen.out is not None:
        report.write(chosen.out, data)
    return 1 if data["verdict"] == "missed" else 0


if __name__ == "__main__":
    sys.exit(main())
