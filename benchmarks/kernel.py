"""A real ipykernel and its client, timed on the client's clock as a front end would see it."""

from __future__ import annotations

import ast
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

LOAD = "%load_ext jupyter_mlgpu"
KERNEL_PACKAGES = ("ipykernel", "ipython", "jupyter_client")

#: Seconds to wait for a kernel, or for a cell, before giving up.
TIMEOUT = 300.0

#: The extension sends what happens within 50 ms of its last message together. After this time (seconds)
#: nothing of one cell can fall into the next.
_SETTLE = 0.100

# Variables that differ from one user's machine to the next: what a Jupyter server, a test run or an earlier
# experiment left in the environment. IPython's own files are kept out by a fresh IPYTHONDIR.
_LEFT_OUT = ("JPY_SESSION_NAME", "JUPYTER_MLGPU_RECORDS", "PYTHONSTARTUP", "PYTEST_CURRENT_TEST")


class CellError(Exception):
    """A cell of a benchmark raised; the message says which and what."""


class Kernel:
    """A running kernel, and the client that times it."""

    def __init__(self, client: BlockingKernelClient, started_at: float) -> None:
        self._client = client
        self._last = ""
        #: When the kernel's process was started: a reading of `time.perf_counter`, in seconds.
        self.started_at = started_at

    def run(self, code: str) -> float:
        """Run a cell and return the seconds from sending it to its reply.

        What the cell shows is thrown away. Raises CellError if it fails, queue.Empty after TIMEOUT.
        """
        return self._execute(code, {})[0]

    def run_whole(self, code: str) -> tuple[float, float]:
        """Run a cell and return the seconds from sending it to its reply, and until the kernel is idle."""
        start = time.perf_counter()
        replied = self.run(code)
        self.wait_until_idle()
        return replied, time.perf_counter() - start

    def cpu_seconds(self) -> float:
        """Return the CPU time of the kernel's process so far."""
        return float(self.value("__import__('time').process_time()"))

    def run_and_evaluate(self, code: str, expression: str) -> tuple[float, Any]:
        """Run a cell and return its seconds with the value of an expression, evaluated in the same message.

        The value must have a literal as its repr.
        """
        seconds, content = self._execute(code, {"value": expression})
        answer = content["user_expressions"]["value"]
        if answer["status"] != "ok":
            raise CellError(f"{expression!r} raised {answer['ename']}: {answer['evalue']}")
        return seconds, ast.literal_eval(answer["data"]["text/plain"])

    def value(self, expression: str) -> Any:
        """Return the value of a Python expression in the kernel; it must have a literal as its repr."""
        return self.run_and_evaluate("", expression)[1]

    def wait_until_idle(self) -> None:
        """Read what the kernel has published, until it is idle after the last cell."""
        while True:
            message = self._client.get_iopub_msg(timeout=TIMEOUT)
            ended = message["msg_type"] == "status" and message["content"]["execution_state"] == "idle"
            if ended and message["parent_header"].get("msg_id") == self._last:
                return

    def settle(self) -> None:
        """Wait until nothing of the last cell is under way."""
        self.wait_until_idle()
        time.sleep(_SETTLE)

    def _execute(self, code: str, expressions: dict[str, str]) -> tuple[float, dict[str, Any]]:
        start = time.perf_counter()
        self._last = self._client.execute(code, user_expressions=expressions, allow_stdin=False)
        while True:
            reply = self._client.get_shell_msg(timeout=TIMEOUT)
            if reply["parent_header"].get("msg_id") == self._last:
                break
        seconds = time.perf_counter() - start
        content: dict[str, Any] = reply["content"]
        if content["status"] != "ok":
            raise CellError(f"This cell raised {content.get('ename')}: {content.get('evalue')}\n{code}")
        return seconds, content


def python_path(tree: str | None) -> str:
    """Return PYTHONPATH with absolute folders, because a kernel runs in a folder of its own; `tree` first."""
    named = [os.path.abspath(one) for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    return os.pathsep.join(named if tree is None else [tree, *named])


@contextmanager
def running_kernel(environment: Mapping[str, str] | None = None, tree: str | None = None) -> Iterator[Kernel]:
    """Start a kernel, and end it with the `with` block.

    `tree` is a folder in which it finds the package first. Raises RuntimeError if no kernel starts.
    """
    with TemporaryDirectory() as folder:
        inherited = {name: value for name, value in os.environ.items() if name not in _LEFT_OUT}
        own = {"PYTHONPATH": python_path(tree), "IPYTHONDIR": folder}
        # What ipykernel writes to its terminal would stand between the figures.
        log = Path(folder, "kernel.log")
        manager = KernelManager(kernel_name="python3")
        started_at = time.perf_counter()
        with log.open("wb") as file:
            variables = {**inherited, **own, **(environment or {})}
            manager.start_kernel(cwd=folder, env=variables, stdout=file, stderr=file)
        try:
            # ZeroMQ makes a client that comes too early wait for 100 ms at a time, which would hide what is
            # measured. So the client connects as soon as the kernel listens.
            _wait_until_listening(manager, log)
            client = manager.client()
            client.start_channels(stdin=False, hb=False, control=False)
            try:
                yield Kernel(client, started_at)
            finally:
                client.stop_channels()
        finally:
            manager.shutdown_kernel(now=True)


def _wait_until_listening(manager: KernelManager, log: Path) -> None:
    deadline = time.perf_counter() + TIMEOUT
    while time.perf_counter() < deadline and manager.is_alive():
        try:
            socket.create_connection((manager.ip, manager.shell_port), timeout=1).close()
        except OSError:
            time.sleep(0.002)
        else:
            return
    printed = log.read_text(errors="replace")[-2000:].strip() or "nothing"
    raise RuntimeError(f"No kernel listened within {TIMEOUT:.0f} s, or it died. It printed: {printed}")
