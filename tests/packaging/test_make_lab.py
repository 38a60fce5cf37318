"""`make lab`, started without a browser, serves a copy of the first lesson and our extensions."""

from __future__ import annotations

import json
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from tracked import tracked

from constraints import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

#: Seconds that `make lab` may take until the server answers; longer when it has to build first.
PATIENCE = 900
LESSON = min(path.name for path in tracked(ROOT / "notebooks", "*.ipynb"))


class Lab:
    """A JupyterLab that `make lab` started on a free port."""

    def __init__(self, log: Path) -> None:
        self.log = log
        self.token = secrets.token_hex(16)
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port: int = listener.getsockname()[1]
        arguments = f"--no-browser --ServerApp.port={self.port} --ServerApp.port_retries=0"
        with open(log, "w", encoding="utf-8") as printed:
            self.process = subprocess.Popen(
                ["make", "lab", f"LAB_ARGS={arguments} --IdentityProvider.token={self.token}"],
                cwd=ROOT,
                # Not as a part of the make that may be running us.
                env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def get(self, path: str) -> str:
        """Return the page at `path`; raises OSError where it is not served."""
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as response:
            text: str = response.read().decode()
            return text

    def wait(self) -> None:
        """Wait until the server answers."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.printed()
            try:
                self.get("api/status")
            except OSError:
                time.sleep(0.5)
            else:
                return
        raise AssertionError(f"make lab served nothing within {PATIENCE} s: {self.printed()}")

    def printed(self) -> str:
        """Return what make and the server have printed."""
        return self.log.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    started = Lab(tmp_path_factory.mktemp("lab") / "make-lab.txt")
    try:
        started.wait()
        yield started
    finally:
        if started.process.poll() is None:
            os.killpg(started.process.pid, signal.SIGTERM)
            started.process.wait(timeout=60)


def test_the_printed_address_opens_a_copy_of_the_first_lesson(lab: Lab) -> None:
    assert '"cells"' in lab.get(f"api/contents/{LESSON}")
    assert re.search(rf"http://\S+/lab/tree/{re.escape(LESSON)}", lab.printed())


def test_the_page_loads_our_labextension(lab: Lab) -> None:
    page = lab.get(f"lab/tree/{LESSON}")
    start = page.index(">", page.index('id="jupyter-config-data"')) + 1
    settings = json.loads(page[start : page.index("</script>", start)])
    (ours,) = [one for one in settings["federated_extensions"] if one["name"] == "jupyter-mlgpu"]
    assert lab.get(f"lab/extensions/jupyter-mlgpu/{ours['load']}")


@pytest.mark.parametrize(
    ("command", "name"),
    [("labextension list", "jupyter-mlgpu"), ("server extension list", "jupyter_mlgpu.serverextension")],
)
def test_jupyter_lists_both_extensions_as_enabled_and_ok(command: str, name: str) -> None:
    listed = subprocess.run(
        [sys.executable, "-m", "jupyter", *command.split()], capture_output=True, text=True, cwd=ROOT
    )
    said = "".join(line for line in (listed.stdout + listed.stderr).splitlines() if name in line)
    assert "enabled" in said
    assert "OK" in said
