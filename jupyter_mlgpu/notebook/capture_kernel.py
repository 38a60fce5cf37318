"""Capturing native lines in a kernel: what it needs beside the tap itself.

ipykernel may have turned the descriptors 1 and 2 into pipes already, whose readers print into the
notebook. Then native lines go on to the same stream objects that `print` uses, and in the right order.
"""

from __future__ import annotations

import contextlib
import contextvars
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable
from typing import Any

from ipykernel.iostream import OutStream

from jupyter_mlgpu.logs.echo import DescriptorEcho, Echo
from jupyter_mlgpu.logs.tap import Tap, plain_echo


class KernelSurroundings:
    """ipykernel, with its own capture of the descriptors on or off."""

    descriptors = (1, 2)

    def __init__(self) -> None:
        self._streams = {1: sys.stdout, 2: sys.stderr}
        self._echoes: list[_StreamEcho] = []

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
        for stream in self._streams.values():
            if isinstance(stream, OutStream):
                _pump_before_writes(stream, tap.pump)

    def cell_begins(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        for echo in self._echoes:
            echo.belong_to_this_cell()

    def cell_ended(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""

    def detach(self, tap: Tap) -> None:
        """See `logs.capture.Surroundings`."""
        self.after_fork_in_child()

    def after_fork_in_child(self) -> None:
        """See `logs.capture.Surroundings`."""
        self._echoes.clear()
        for stream in self._streams.values():
            with contextlib.suppress(AttributeError):
                del stream.write  # type: ignore[method-assign]


class _StreamEcho:
    """Into a stream of ipykernel's, under the cell that runs or ran last, and to the server's terminal."""

    def __init__(self, stream: Any, terminal: int) -> None:
        self._write: Callable[[str], Any] = stream.write
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
        terminal = stream.fileno()
    except (OSError, ValueError):  # its capture is off
        return None
    return terminal if terminal != descriptor else None


def _pump_before_writes(stream: Any, pump: Callable[[], None]) -> None:
    """A native line written before a print is shown before it."""
    original = stream.write

    def write(text: str) -> Any:
        with contextlib.suppress(Exception):
            pump()
        return original(text)

    stream.write = write
