"""Leaves native output alone in a terminal, where native code and programs need the terminal itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.stream import plain_echo
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.record.native import StreamLines


class TerminalEnvironment:
    """Captures no descriptors: a program that writes to a pipe loses colours, its pager and job control."""

    descriptors: Sequence[int] = ()

    def make_echo(self, descriptor: int, before: int) -> Echo:
        """Return an echo to the terminal."""
        return plain_echo(descriptor, before)

    def attach(self, tap: Tap, request_begins: Callable[[], None]) -> None:
        """Do nothing."""

    def cell_begins(self, tap: Tap) -> None:
        """Do nothing."""

    def cell_ended(self, tap: Tap) -> None:
        """Do nothing."""

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Return no lines: a terminal folds none."""
        return {}

    def detach(self, tap: Tap) -> None:
        """Do nothing."""

    def after_fork_in_child(self, tap: Tap) -> None:
        """Do nothing."""
