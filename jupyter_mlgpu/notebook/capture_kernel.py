"""Capturing native lines in a kernel: what it needs beside the tap itself.

ipykernel may have turned the descriptors 1 and 2 into pipes already, whose readers print into the
notebook. Then native lines go on to the same stream objects that `print` uses, and in the right order.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any

from ipykernel.iostream import OutStream

from jupyter_mlgpu.logs.echo import DescriptorEcho, Echo
from jupyter_mlgpu.logs.tap import Tap, plain_echo


class KernelSurroundings:
    """ipykernel, with its own capture of the descriptors on or off."""

    def __init__(self) -> None:
        self._streams = {1: sys.stdout, 2: sys.stderr}
        self._echoes: list[_StreamEcho] = []
        self._covered: list[tuple[Any, Any, bool]] = []

    def make_echo(self, descriptor: int, before: int | None) -> Echo:
        """Into the notebook where ipykernel would have shown it there, else to where it went before."""
        stream = self._streams[descriptor]
        terminal = _captured_by_ipykernel(stream, descriptor)
        if terminal is None:
            return plain_echo(descriptor, before)
        echo = _StreamEcho(stream, terminal)
        self._echoes.append(echo)
        return echo

    def attach(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""

    def cell_begins(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        for echo in self._echoes:
            echo.belong_to_this_cell()
        for stream in self._streams.values():
            if isinstance(stream, OutStream):
                self._pump_before_writes(stream, tap.pump)

    def cell_ended(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        while self._covered:
            stream, ours, was_covered = self._covered.pop()
            if stream.write is not ours:
                continue  # somebody has covered it since, and calls us: we only look at the files then
            if was_covered:
                stream.write = ours.__wrapped__
            else:
                del stream.write

    def detach(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        self.cell_ended(tap)
        self._echoes.clear()

    def after_fork_in_child(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        self.detach(tap)

    def _pump_before_writes(self, stream: Any, pump: Callable[[], None]) -> None:
        """A native line written before a print is shown before it.

        Done cell by cell, for IPython covers the method too, also for one cell at a time.
        """
        original = stream.write

        @functools.wraps(original)
        def write(*arguments: Any) -> Any:
            with contextlib.suppress(Exception):
                pump()
            return original(*arguments)

        self._covered.append((stream, write, "write" in vars(stream)))
        stream.write = write


class _StreamEcho:
    """Into a stream of ipykernel's, under the cell that runs or ran last, and to the server's terminal."""

    def __init__(self, stream: Any, terminal: int) -> None:
        # The class's own method: the instance's may be covered for the length of a cell.
        self._write: Callable[[str], Any] = functools.partial(type(stream).write, stream)
        self._decoder = getincrementaldecoder("utf-8")(errors="replace")
        self._terminal = DescriptorEcho(terminal)
        self.belong_to_this_cell()

    def belong_to_this_cell(self) -> None:
        # ipykernel remembers in a context variable which cell a print belongs to.
        self._context = contextvars.copy_context()

    def write(self, data: bytes) -> int:
        text = self._decoder.decode(data)
        if text:
            self._context.run(self._write, text)
        self._terminal.write(data)  # a courtesy: what a full pipe does not take, the notebook has
        return len(data)

    def ready(self, timeout: float) -> bool:
        return True


def _captured_by_ipykernel(stream: Any, descriptor: int) -> int | None:
    """The terminal's own descriptor, where ipykernel has turned `descriptor` into a pipe of its own."""
    if not isinstance(stream, OutStream):
        return None
    try:
        terminal: int = stream.fileno()  # type: ignore[no-untyped-call]
    except (OSError, ValueError):  # its capture is off
        return None
    return terminal if terminal != descriptor else None
