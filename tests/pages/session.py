"""A reader at a page: a shell and a notebook in an empty folder, with the programs of an environment."""

from __future__ import annotations

import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

from jupyter_client.kernelspec import KernelSpecManager

from tests.pages.plan import ROOT
from tests.support.kernels import Notebook

#: Commands that run until they are stopped: a server, which says when it is ready.
_SERVER = re.compile(r"^(?:\S*/)?jupyter lab\b")
_READY = re.compile(r"is running at:")
#: What IPython and Python print of an error without a failing status.
_ERROR = re.compile(r"^(?:UsageError:|Traceback \(most recent call last\)|ERROR: )", re.MULTILINE)
#: Seconds for a block, on a busy machine; some train, start engines or grade a lab.
SECONDS = 600


class BlockError(Exception):
    """A block of a page failed when it was typed; the message says where, and shows its output."""

    def __init__(self, place: str, code: str, output: str) -> None:
        super().__init__(
            f"{place}: this fails when it is typed:\n\n{code.rstrip()}\n\n{output.strip()[-6000:]}"
        )


class Session:
    """Types blocks, one after another; `close` ends its kernel."""

    def __init__(self, folder: Path, environment: Path) -> None:
        """Set an empty folder, and the environment whose programs are used."""
        self.work = folder / "work"
        self._own = folder / "own"
        self._environment = environment.absolute()
        self._shell_folder = self.work
        self._notebook: Notebook | None = None
        for one in (self.work, self._own / "home/.jupyter", self._own / "kernels/python3"):
            one.mkdir(parents=True)
        # A server refuses to start as root, who one is in most containers, and opens a browser.
        settings = {"ServerApp": {"allow_root": True, "open_browser": False}}
        settings_file = self._own / "home/.jupyter/jupyter_server_config.json"
        settings_file.write_text(json.dumps(settings), encoding="utf-8")
        # Plain `python3`, as Jupyter has it for the Python that it runs on, would be that of the tests.
        python = str(self._environment / "bin/python")
        spec = {
            "argv": [python, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "display_name": "Python 3",
            "language": "python",
        }
        (self._own / "kernels/python3/kernel.json").write_text(json.dumps(spec), encoding="utf-8")

    def type(self, place: str, language: str, code: str) -> None:
        """Type a block's code, and print the output; raises BlockError where a reader would see an error."""
        run = self._run_cell if language == "python" else self._run_shell
        print(f"--- {place}\n{code.rstrip()}\n>>>")
        output = run(place, code)
        print(output)
        if _ERROR.search(output):
            raise BlockError(place, code, output)

    def close(self) -> None:
        """End the kernel, if there is one."""
        if self._notebook is not None:
            self._notebook.close()

    def _run_cell(self, place: str, code: str) -> str:
        """Run a cell of the session's notebook, and return its text."""
        if self._notebook is None:
            self._notebook = self._start_kernel()
        result = self._notebook.run(code, timeout=SECONDS)
        texts = [
            data if kind == "stream" else str(data.get("text/plain", ""))
            for kind, data in result.outputs
            if kind in ("stream", "display_data", "execute_result")
        ]
        if result.status != "ok" or result.error is not None:
            raise BlockError(place, code, "".join([*texts, "\n", result.error or "the cell was refused"]))
        return "\n".join(texts)

    def _run_shell(self, place: str, code: str) -> str:
        """Run commands in the session's shell, each of which has to succeed, and return what they print."""
        output, commands = "", list[str]()
        for line in code.splitlines():
            if _SERVER.match(line):
                output += self._run_commands(place, "\n".join(commands)) + self._start_and_stop(place, line)
                commands = []
            else:
                commands.append(line)
        return output + self._run_commands(place, "\n".join(commands))

    def _run_commands(self, place: str, commands: str) -> str:
        if not commands.strip():
            return ""
        where = self._own / "folder"
        script = f"set -euo pipefail\ntrap 'pwd >{where}' EXIT\n{commands}\n"
        try:
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=self._shell_folder,
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise BlockError(
                place, commands, f"it did not end in {SECONDS} seconds:\n{error.output!r}"
            ) from None
        if done.returncode:
            raise BlockError(place, commands, f"{done.stdout}\nexit status {done.returncode}")
        self._shell_folder = Path(where.read_text(encoding="utf-8").strip())
        return done.stdout

    def _start_and_stop(self, place: str, line: str) -> str:
        """Start a server as a line says, wait until it is ready, and end it."""
        printed = self._own / "server.txt"
        with (
            printed.open("wb") as output,
            subprocess.Popen(
                ["bash", "-c", f"exec {line}"],
                cwd=self._shell_folder,
                env=self._variables(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as server,
        ):
            while server.poll() is None:
                if _READY.search(printed.read_text(encoding="utf-8", errors="replace")):
                    server.terminate()  # again and again: one that is still starting may miss the signal
                with suppress(subprocess.TimeoutExpired):
                    server.wait(0.2)
        text = printed.read_text(encoding="utf-8", errors="replace")
        if not _READY.search(text):
            raise BlockError(place, line, f"{text}\nexit status {server.returncode}")
        return text

    def _start_kernel(self) -> Notebook:
        specs = KernelSpecManager(kernel_dirs=[str(self._own / "kernels")], ensure_native_kernel=False)
        removed = {name: None for name in os.environ if name not in self._variables()}
        folder = self._own / "kernel"
        folder.mkdir()
        environment = {**removed, **self._variables(), "JUPYTER_MLGPU_RECEIPTS": None}
        notebook = Notebook(folder, environment, kernel_spec_manager=specs)
        notebook.connect()
        notebook.change_folder(self.work)
        return notebook

    def _variables(self) -> dict[str, str]:
        """Return the variables of the environment: no packages of this checkout, or of the user's home."""
        kept = {name: one for name, one in os.environ.items() if not name.startswith(("PYTHON", "JUPYTER"))}
        return {
            **kept,
            "HOME": str(self._own / "home"),
            "PATH": f"{self._environment / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "VIRTUAL_ENV": str(self._environment),
            # For entries of pages.toml alone: no page knows it.
            "CHECKOUT": str(ROOT),
            "JUPYTER_MLGPU_OFFLINE": "1",
            # So `pip install` succeeds only where the environment already has all that the page asks for.
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": "",
            "PIP_QUIET": "1",
            "LC_ALL": "C.UTF-8",
        }
