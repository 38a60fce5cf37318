"""Capturing native lines in a terminal's IPython: what it needs beside the tap itself.

The prompt needs the real descriptor 1 between cells, and programs started with `!` need it inside them.
What Python prints is no native line: inside a cell it goes to the terminal directly.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.tap import Tap, plain_echo
from jupyter_mlgpu.record.native import StreamLines


class TerminalSurroundings:
    """IPython in a terminal: descriptor 1 is captured only while a cell runs."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._before: dict[int, int] = {}
        self._replaced: dict[str, tuple[Any, Any]] = {}

    def make_echo(self, descriptor: int, before: int | None) -> Echo:
        """Back to the terminal."""
        if before is not None:
            self._before[descriptor] = before
        return plain_echo(descriptor, before)

    def attach(self, tap: Tap) -> None:
        """Keep native lines of the terminal's own descriptors apart from what Python prints."""
        tap.give_back(1)
        self._replace("stderr", 2, tap)
        system = self._shell.system

        def run_in_terminal(command: str) -> Any:
            inside = "stdout" in self._replaced
            tap.give_back(1, 2)
            try:
                return system(command)
            finally:
                tap.take(*((1, 2) if inside else (2,)))

        self._shell.system = run_in_terminal

    def cell_begins(self, tap: Tap) -> None:
        """Take standard output, too, for the length of this cell."""
        tap.take(1)
        self._replace("stdout", 1, tap)

    def cell_ended(self, tap: Tap) -> None:
        """Give standard output back to the terminal."""
        self._put_back("stdout")
        tap.give_back(1)

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Nobody asks: in a terminal all lines are shown as they come."""
        return {}

    def detach(self, tap: Tap) -> None:
        """Put everything back as it was found."""
        for name in list(self._replaced):
            self._put_back(name)
        with contextlib.suppress(AttributeError):
            del self._shell.system

    def after_fork_in_child(self, tap: Tap) -> None:
        """A child prints as without us."""
        self.detach(tap)

    def _replace(self, name: str, descriptor: int, tap: Tap) -> None:
        """What Python prints goes to the terminal itself: it is no native line."""
        found = getattr(sys, name)
        before = self._before.get(descriptor)
        try:
            if before is None or name in self._replaced or found.fileno() != descriptor:
                return
        except (AttributeError, OSError, ValueError):
            return  # not a stream on this descriptor: a test's, or one the user has put there
        found.flush()
        ours = _TerminalStream(os.dup(before), found, tap.pump)
        self._replaced[name] = (found, ours)
        setattr(sys, name, ours)

    def _put_back(self, name: str) -> None:
        found, ours = self._replaced.pop(name, (None, None))
        if ours is None:
            return
        with contextlib.suppress(OSError, ValueError):
            ours.flush()
        if getattr(sys, name) is ours:
            setattr(sys, name, found)


class _TerminalStream(io.TextIOWrapper):
    """A terminal's stream that lets native lines written before it pass first."""

    def __init__(self, descriptor: int, like: io.TextIOWrapper, pump: Callable[[], None]) -> None:
        super().__init__(
            io.BufferedWriter(io.FileIO(descriptor, "w")),
            encoding=like.encoding,
            errors=like.errors,
            line_buffering=like.line_buffering,
            write_through=like.write_through,
        )
        self._pump = pump

    def write(self, text: str, /) -> int:
        with contextlib.suppress(Exception):
            self._pump()
        written = super().write(text)
        if self.write_through:  # this says it to the text layer alone; the bytes below are buffered
            self.flush()
        return written
