"""Shows the progress of a command, on stderr by default: a bar in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Protocol, TextIO

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import Clock, SystemClock
from jupyter_mlgpu.record.visible import visible_line

#: A shorter time since the start, in seconds, tells nothing and is not printed.
_WORTH_PRINTING = 0.1


class Progress(Protocol):
    """The progress of a command that works through cells or cases."""

    def say(self, what: str) -> None:
        """Show that a slow step before the first cell has begun."""
        ...

    def cell(self, number: int, total: int, name: str) -> None:
        """Show that cell `number` of `total` begins; the ones before it are done."""
        ...

    def close(self) -> None:
        """Show nothing more."""
        ...


def progress(stream: TextIO | None = None) -> Progress:
    """Return a bar if the stream is a terminal, else plain lines."""
    stream = stream or sys.stderr
    return ProgressBar(stream) if stream.isatty() else ProgressLines(stream)


class ProgressLines:
    """Prints a line for each cell as it begins, with the time since the start, for log files."""

    def __init__(self, stream: TextIO, clock: Clock | None = None) -> None:
        self._stream = stream
        self._clock = clock or SystemClock()
        self._start_ns = self._clock.monotonic_ns()

    def say(self, what: str) -> None:
        """Print the step."""
        print(f"{visible_line(what)} …", file=self._stream, flush=True)

    def cell(self, number: int, total: int, name: str) -> None:
        """Print the cell."""
        elapsed = (self._clock.monotonic_ns() - self._start_ns) / 1e9
        after = f" after {units.seconds(elapsed)}:" if elapsed >= _WORTH_PRINTING else ""
        print(f"[{number}/{total}]{after} {printable(name)}", file=self._stream, flush=True)

    def close(self) -> None:
        """Do nothing."""


class ProgressBar:
    """Draws a bar with the number of finished cells, the time since the start, and the running cell."""

    def __init__(self, stream: TextIO) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            # Without markup: code has [brackets], which rich would read as styles.
            TextColumn("{task.description}", markup=False),
            console=Console(file=stream),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def say(self, what: str) -> None:
        """Show the step."""
        self._bar.update(self._task, description=f"{visible_line(what)} …")

    def cell(self, number: int, total: int, name: str) -> None:
        """Show the cell."""
        self._bar.update(self._task, completed=number - 1, total=total, description=printable(name))

    def close(self) -> None:
        """Remove the bar."""
        self._bar.stop()


def printable(text: str, limit: int = 60) -> str:
    """Return at most `limit` characters of the text, without those that could move a terminal's cursor."""
    visible_text = "".join(character if character.isprintable() else " " for character in text)
    return visible_text if len(visible_text) <= limit else visible_text[: limit - 1] + "…"
