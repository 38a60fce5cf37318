"""Tells why kernels of this server died: to the page that asks, and to the kernel that comes after.

The server's kernel manager restarts a kernel that died within seconds, and knows nothing of why. What is seen
of its end (jupyter/exits/listener.py) is put together here with its exit status, and with whether somebody
had asked for the end. The page asks when a kernel's status becomes `autorestarting` or `dead`:

    GET jupyter-mlgpu/deaths/KERNEL_ID  ->  {"death": {"cause": ..., "confidence": ..., "sentence": ...,
                                             "next": ..., "lines": [...]}}

with null for a kernel that has not died, or of which nothing is known.
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
from tornado import web

from jupyter_mlgpu.explain.exits.kernel_exit import KernelExit, post_mortem
from jupyter_mlgpu.jupyter.exits.connection import VARIABLE
from jupyter_mlgpu.jupyter.exits.listener import ExitListener, Seen
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.flight import flight_files

PATH = r"/jupyter-mlgpu/deaths/([\w-]+)"
#: Seconds for which a page waits for a death that is being looked at, and between two looks.
_PATIENCE, _PAUSE = 2.0, 0.02
#: Deaths that are remembered.
_MOST = 200


@dataclass(slots=True)
class _Kernel:
    """A kernel that has called: its id and manager, and the process that was started for it."""

    id: str
    manager: Any
    process: subprocess.Popen[bytes] | None
    restarted_by_itself: bool = False

    def restarts(self) -> None:
        """The manager itself has found it dead."""
        self.restarted_by_itself = True


class KernelExits:
    """The deaths of a server's kernels. All but the listener's two calls is done on the server's loop."""

    def __init__(self, kernels: Any, soon: Callable[..., Any]) -> None:
        """`kernels` is the server's kernel manager, `soon` has something done on its loop."""
        self._kernels = kernels
        self._soon = soon
        self._called: dict[int, _Kernel] = {}
        self._looking: set[str] = set()
        self._exits: dict[str, KernelExit | None] = {}
        self._listener = ExitListener(
            lambda seen: self._soon(self._ended, seen), lambda path, pid: self._soon(self._begun, path, pid)
        )

    def start(self) -> None:
        """Listen, and let the kernels to come know where."""
        with suppress(OSError):  # then kernels die unseen, as without us
            os.environ[VARIABLE] = self._listener.start()

    def stop(self) -> None:
        """Listen no more."""
        os.environ.pop(VARIABLE, None)
        self._listener.stop()

    async def of(self, kernel_id: str) -> KernelExit | None:
        """Why a kernel died the last time; None where that is not known, or it has not."""
        waited = 0.0
        while waited < _PATIENCE and (kernel_id in self._looking or kernel_id not in self._exits):
            await asyncio.sleep(_PAUSE)
            waited += _PAUSE
        return self._exits.get(kernel_id)

    def _begun(self, path: Path, pid: int) -> None:
        for kernel_id in self._kernels.list_kernel_ids():
            manager = self._kernels.get_kernel(kernel_id)
            if flight_files.name_for(getattr(manager, "connection_file", "")) == path.name:
                break
        else:
            return  # somebody else's, that was started from a terminal of this server's
        known = self._called.get(pid)
        if known is not None and known.id == kernel_id:
            return
        kernel = _Kernel(kernel_id, manager, getattr(manager.provisioner, "process", None))
        self._called[pid] = kernel
        manager.add_restart_callback(kernel.restarts, "restart")

    def _ended(self, seen: Seen) -> None:
        kernel = self._called.get(seen.exit_report.pid or 0)
        if kernel is None:
            return
        asked = bool(kernel.manager.shutting_down) and not kernel.restarted_by_itself
        asked = asked or kernel.id not in self._kernels.list_kernel_ids()
        self._looking.add(kernel.id)
        task = asyncio.ensure_future(self._look(kernel, seen, asked))
        task.add_done_callback(lambda _: self._looking.discard(kernel.id))

    async def _look(self, kernel: _Kernel, seen: Seen, asked: bool) -> None:
        status = await _status(kernel.process)
        self._called.pop(seen.exit_report.pid or 0, None)
        kernel.manager.remove_restart_callback(kernel.restarts, "restart")
        pid = None if kernel.process is None else kernel.process.pid
        exit_report = seen.ended(pid, status, asked=asked)
        # What it said is looked up in the catalogue, which takes a moment: others are served meanwhile.
        kernel_exit = await asyncio.to_thread(partial(post_mortem, seen.flight_record, exit_report))
        self._exits.pop(kernel.id, None)
        self._exits[kernel.id] = kernel_exit
        for old in list(self._exits)[:-_MOST]:
            del self._exits[old]
        left = flight_files.read(seen.path)
        if left is None or left.state.pid != seen.exit_report.pid:
            return  # the next kernel has been here already
        if kernel_exit is None:
            flight_files.remove(seen.path)
        else:
            with suppress(RecordError):  # the next kernel will say less
                flight_files.write_exit_report(seen.path, exit_report)


async def _status(process: subprocess.Popen[bytes] | None) -> int | None:
    """The exit status of a process that is ending."""
    waited = 0.0
    while process is not None and waited < _PATIENCE:
        status = process.poll()
        if status is not None:
            return status
        await asyncio.sleep(_PAUSE)
        waited += _PAUSE
    return None


class ExitHandler(APIHandler):
    """Answers with the last death of a kernel."""

    def initialize(self, exits: KernelExits) -> None:
        """`exits` is the server's."""
        self._exits = exits

    @web.authenticated
    async def get(self, kernel_id: str) -> None:
        """Why this kernel died the last time."""
        kernel_exit = await self._exits.of(kernel_id)
        self.set_header("Cache-Control", "no-store")
        await self.finish(json.dumps({"death": None if kernel_exit is None else kernel_exit.to_json()}))


def handlers(base_url: str, exits: KernelExits) -> list[tuple[str, Any, dict[str, Any]]]:
    """For the server's web application."""
    return [(base_url.rstrip("/") + PATH, ExitHandler, {"exits": exits})]
