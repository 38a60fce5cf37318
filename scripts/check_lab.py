"""Runs `make lab` as a person would, without a browser, and checks what it serves.

It starts on a free port, and stops again. Checked: the server answers, it offers a copy of the first lesson,
the address that it prints opens that copy, the page that JupyterLab loads names our labextension, that
extension's entry file is served, and both our extensions are listed as enabled and OK. The exit status is 0
when all of that holds.
"""

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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MAKEFILE = ROOT / "Makefile"
LABEXTENSION = "jupyter-mlgpu"
SERVER_EXTENSION = "jupyter_mlgpu.serverextension"
#: Seconds that `make lab` may take until the server answers; longer when it has to build first.
PATIENCE = 900


def named_in_makefile(variable: str) -> str:
    """The value of a variable of the Makefile that is one word."""
    text = MAKEFILE.read_text(encoding="utf-8")
    (value,) = re.findall(rf"^{variable} := (\S+)$", text, flags=re.MULTILINE)
    return str(value)


def first_lesson() -> str:
    """The lesson that `make lab` opens."""
    return named_in_makefile("FIRST_LESSON")


def lessons_copy() -> Path:
    """The folder at the checkout's top that `make lab` copies the lessons to."""
    return Path(named_in_makefile("LESSONS_COPY"))


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Lab:
    """A JupyterLab that `make lab` started; `get` asks it for a page, and `printed` keeps what it prints."""

    def __init__(self) -> None:
        self.printed = ROOT / "build" / "logs" / "make-lab.txt"
        self.printed.parent.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.token = secrets.token_hex(16)
        arguments = f"--no-browser --ServerApp.port={self.port} --ServerApp.port_retries=0"
        with open(self.printed, "w", encoding="utf-8") as printed:
            self.process = subprocess.Popen(
                ["make", "lab", f"LAB_ARGS={arguments} --IdentityProvider.token={self.token}"],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def get(self, path: str) -> str:
        """The page at `path`; raises OSError, which names the path, where it is not served."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/{path}",
            headers={"Authorization": f"token {self.token}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                text: str = response.read().decode()
                return text
        except OSError as error:
            raise OSError(f"/{path} gives: {error}") from error

    def wait(self) -> None:
        """Wait until the server answers; raises RuntimeError when it ends or takes too long."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"make lab ended with exit status {self.process.returncode}.")
            try:
                self.get("api/status")
            except OSError:
                time.sleep(0.5)
            else:
                return
        raise RuntimeError(f"make lab served nothing within {PATIENCE} s.")

    def stop(self) -> None:
        """End make and the server it started, and wait for them."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(timeout=60)


def page_settings(page: str) -> dict[str, Any]:
    """What JupyterLab's page says to its scripts, from the element that holds it."""
    start = page.index(">", page.index('id="jupyter-config-data"')) + 1
    settings: dict[str, Any] = json.loads(page[start : page.index("</script>", start)])
    return settings


def what_jupyter_lists(command: Sequence[str], name: str) -> str:
    """The lines about the extension `name` that `jupyter COMMAND` prints, as one line."""
    listed = subprocess.run(
        [sys.executable, "-m", "jupyter", *command], capture_output=True, text=True, cwd=ROOT
    )
    lines = (listed.stdout + listed.stderr).splitlines()
    return " / ".join(line.strip() for line in lines if name in line)


def check(lab: Lab) -> None:
    """Raise RuntimeError for the first thing that `lab` does not serve as it should."""
    # As the server names it: the folder with the copies is its top.
    lesson = first_lesson()
    if '"cells"' not in lab.get(f"api/contents/{lesson}"):
        raise RuntimeError(f"The server does not offer {lesson}.")
    print(f"    a copy of the lesson is served: {lessons_copy() / lesson}")

    address = re.search(
        rf"http://\S+/lab/tree/{re.escape(lesson)}\S*", lab.printed.read_text(encoding="utf-8")
    )
    if address is None:
        raise RuntimeError(f"The address that JupyterLab prints is not that of {lesson}.")
    print(f"    the printed address opens it: {address[0].partition('?')[0]}")

    settings = page_settings(lab.get(f"lab/tree/{lesson}"))
    ours = [item for item in settings["federated_extensions"] if item["name"] == LABEXTENSION]
    if not ours:
        raise RuntimeError(f"JupyterLab's page does not name the labextension {LABEXTENSION}.")
    lab.get(f"lab/extensions/{LABEXTENSION}/{ours[0]['load']}")
    print(f"    the labextension is served: {LABEXTENSION}/{ours[0]['load']}")

    for what, command, wanted in (
        ("labextension", ["labextension", "list"], LABEXTENSION),
        ("server extension", ["server", "extension", "list"], SERVER_EXTENSION),
    ):
        said = what_jupyter_lists(command, wanted)
        if not ("enabled" in said and "OK" in said):
            raise RuntimeError(
                f"`jupyter {' '.join(command)}` does not list {wanted} as enabled and OK; it says: "
                f"{said or 'nothing about it'}"
            )
        print(f"    the {what} is enabled and OK: {wanted}")


def main() -> int:
    """Start, check and stop; 0 when everything is there, else 1 and one sentence."""
    lab = Lab()
    try:
        lab.wait()
        check(lab)
    except (RuntimeError, OSError, KeyError, ValueError) as error:
        print(f"make lab does not serve what it should: {error} It printed:", file=sys.stderr)
        print(lab.printed.read_text(encoding="utf-8")[-4000:], file=sys.stderr)
        return 1
    finally:
        lab.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
