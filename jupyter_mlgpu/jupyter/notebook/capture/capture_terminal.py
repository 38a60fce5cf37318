"""IPython in a terminal: native code and programs keep the terminal, so nothing is captured."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from jupyter_mlgpu.measure.capture.echo import Echo
from jupyter_mlgpu.measure.capture.stream import plain_echo
from jupyter_mlgpu.measure.capture.tap import Tap
from jupyter_mlgpu.record.native import StreamLines


class TerminalEnvironment:
    """No descriptors: a program that writes to a pipe has no colours, no pages and no job control."""

    descriptors: Sequence[int] = ()

    def make_echo(self, descriptor: int, before: int) -> Echo:
        """Back to the terminal."""
        return plain_echo(descriptor, before)

    def attach(self, tap: Tap, request_begins: Callable[[], None]) -> None:
        """Nothing is to be put in."""

    def cell_begins(self, tap: Tap) -> None:
        """Nothing is to be done."""

    def cell_ended(self, tap: Tap) -> None:
        """Nothing is to be done."""

    def shown_lines(self) -> Mapping[str, StreamLines]:
        """Nobody asks: in a terminal all lines are shown as they come."""
        return {}

    def detach(self, tap: Tap) -> None:
        """Nothing is to be put back."""

    def after_fork_in_child(self, tap: Tap) -> None:
        """Nothing is to be put back."""
