"""Reports why kernels of this server died, to the page that asks or to the next kernel.

The server's kernel manager restarts a kernel that died within seconds, and does not know why it died. This
module combines the listener's report of the exit (jupyter/exits/listener.py) with the exit status, and with
the information if the exit was requested. The page asks when a kernel's status becomes `autorestarting` or
`dead`:

    GET jupyter-mlgpu/deaths/KERNEL_ID  ->  {"death": {"cause": ..., "confidence": ..., "sentence": ...,
                                             "next": ..., "lines": [...]}, "output": null}

with null for a kernel that has not died, or about which nothing is known. A page that sent the cell in which
the kernel died adds `?language=LANGUAGE` and gets the output for under that cell. The next kernel then says
nothing about it.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from msgspec.structs import replace
from tornado import web

from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit, post_mortem
from jupyter_mlgpu.jupyter.cli.strip import EXIT
from jupyter_mlgpu.jupyter.exits.connection import VARIABLE
from jupyter_mlgpu.jupyter.exits.listener import EndedKernel, ExitListener
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.flight import flight_files
from jupyter_mlgpu.record.flight.exit_report import ExitReport
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.markup import element

PATH = r"/jupyter-mlgpu/deaths/([\w-]+)"
#: Seconds that a page waits for an exit that is being examined, and between two checks.
_PATIENCE, _PAUSE = 2.0, 0.02
#: Most exits that are kept.
_MOST = 200


@dataclass(slots=True)
class _Kernel:
    """A kernel that has connected: its id and manager, and the process that was started for it."""

    id: str
    manager: Any
    process: subprocess.Popen[bytes] | None
    restarted_by_itself: bool = False

    def restarts(self) -> None:
        """Record that the manager itself found it dead."""
        self.restarted_by_itself = True


@dataclass(frozen=True, slots=True)
class _Examined:
    """Why a kernel died; None if somebody asked for its end. `exit_report` is for the next kernel."""

    kernel_exit: KernelExit | None
    exit_report: ExitReport
    ended: EndedKernel

    def leave(self, *, shown: bool) -> None:
        """Leave the report to the next kernel, unless that has already replaced the flight record."""
        left = flight_files.read(self.ended.path)
        if left is None or left.state.pid != self.ended.exit_report.pid:
            return
        if self.kernel_exit is None:
            flight_files.remove(self.ended.path)
        else:
            with suppress(RecordError):  # then the next kernel reports less
                flight_files.write_exit_report(self.ended.path, replace(self.exit_report, shown=shown))


class KernelExits:
    """The exits of a server's kernels; all but the listener's callbacks run on the server's event loop."""

    def __init__(self, kernels: Any, soon: Callable[..., Any]) -> None:
        """Set the server's kernel manager, and `soon`, which runs a function on the server's event loop."""
        self._kernels = kernels
        self._soon = soon
        self._connected: dict[int, _Kernel] = {}
        self._examining: set[str] = set()
        self._exits: dict[str, _Examined] = {}
        self._listener = ExitListener(
            on_end=lambda kernel: self._soon(self._ended, kernel),
            on_begin=lambda path, pid: self._soon(self._begun, path, pid),
        )

    def start(self) -> None:
        """Start to listen, and set the socket's path in the environment of later kernels."""
        with suppress(OSError):  # then exits are not detected
            os.environ[VARIABLE] = self._listener.start()

    def stop(self) -> None:
        """Stop listening."""
        os.environ.pop(VARIABLE, None)
        self._listener.stop()

    async def of(self, kernel_id: str) -> KernelExit | None:
        """Return why a kernel died the last time; None if it has not or the cause is not known."""
        waited = 0.0
        while waited < _PATIENCE and (kernel_id in self._examining or kernel_id not in self._exits):
            await asyncio.sleep(_PAUSE)
            waited += _PAUSE
        examined = self._exits.get(kernel_id)
        return None if examined is None else examined.kernel_exit

    def note_shown(self, kernel_id: str) -> None:
        """Record that a page shows the exit under the cell that ran, so that the next kernel does not."""
        examined = self._exits.get(kernel_id)
        if examined is not None:
            examined.leave(shown=True)

    def _begun(self, path: Path, pid: int) -> None:
        for kernel_id in self._kernels.list_kernel_ids():
            manager = self._kernels.get_kernel(kernel_id)
            if flight_files.name_for(getattr(manager, "connection_file", "")) == path.name:
                break
        else:
            return  # not a kernel of this server, but started from one of its terminals
        known = self._connected.get(pid)
        if known is not None and known.id == kernel_id:
            return
        kernel = _Kernel(kernel_id, manager, getattr(manager.provisioner, "process", None))
        self._connected[pid] = kernel
        manager.add_restart_callback(kernel.restarts, "restart")

    def _ended(self, ended_kernel: EndedKernel) -> None:
        kernel = self._connected.get(ended_kernel.exit_report.pid or 0)
        if kernel is None:
            return
        asked = bool(kernel.manager.shutting_down) and not kernel.restarted_by_itself
        asked = asked or kernel.id not in self._kernels.list_kernel_ids()
        self._examining.add(kernel.id)
        task = asyncio.ensure_future(self._examine(kernel, ended_kernel, asked))
        task.add_done_callback(lambda _: self._examining.discard(kernel.id))

    async def _examine(self, kernel: _Kernel, ended_kernel: EndedKernel, asked: bool) -> None:
        status = await _status(kernel.process)
        self._connected.pop(ended_kernel.exit_report.pid or 0, None)
        kernel.manager.remove_restart_callback(kernel.restarts, "restart")
        pid = None if kernel.process is None else kernel.process.pid
        exit_report = ended_kernel.complete_report(pid, status, asked=asked)
        # Looking up its last lines in the catalogue takes a moment. The server works on meanwhile.
        kernel_exit = await asyncio.to_thread(partial(post_mortem, ended_kernel.flight_record, exit_report))
        self._exits.pop(kernel.id, None)
        self._exits[kernel.id] = examined = _Examined(kernel_exit, exit_report, ended_kernel)
        for old in list(self._exits)[:-_MOST]:
            del self._exits[old]
        examined.leave(shown=False)


async def _status(process: subprocess.Popen[bytes] | None) -> int | None:
    """Wait for the exit status of a process that is ending, and return it."""
    waited = 0.0
    while process is not None and waited < _PATIENCE:
        status = process.poll()
        if status is not None:
            return status
        await asyncio.sleep(_PAUSE)
        waited += _PAUSE
    return None


class ExitHandler(APIHandler):
    """Answers with the last exit of a kernel."""

    def initialize(self, exits: KernelExits) -> None:
        """Set the server's exits."""
        self._exits = exits

    @web.authenticated
    async def get(self, kernel_id: str) -> None:
        """Send why this kernel died the last time."""
        kernel_exit = await self._exits.of(kernel_id)
        language = self.get_query_argument("language", None)
        output = None if kernel_exit is None or language is None else output_of(kernel_exit, language)
        if output is not None:
            self._exits.note_shown(kernel_id)
        self.set_header("Cache-Control", "no-store")
        death = None if kernel_exit is None else kernel_exit.to_json()
        await self.finish(json.dumps({"death": death, "output": output}))


def output_of(kernel_exit: KernelExit, language: str) -> dict[str, Any] | None:
    """Return the MIME bundle for under the cell in which the kernel died; None if no cell ran."""
    if kernel_exit.here is None:
        return None
    shown = replace(kernel_exit, sentence=kernel_exit.here, here=None)
    text = translated(shown.note, language)
    return {EXIT: shown.to_json(), "text/html": str(element("div", text)), "text/plain": text}


def handlers(base_url: str, exits: KernelExits) -> list[tuple[str, Any, dict[str, Any]]]:
    """Return the handlers for the server's web application."""
    return [(base_url.rstrip("/") + PATH, ExitHandler, {"exits": exits})]
