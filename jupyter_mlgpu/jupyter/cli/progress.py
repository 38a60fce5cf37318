"""How far a run is, on stderr: a bar in a terminal, plain lines everywhere else."""

from __future__ import annotations

import sys
import time
from typing import Protocol

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.visible import visible_line


class Progress(Protocol):
    """What `run` tells of itself while it works."""

    def say(self, what: str) -> None:
        """Something that takes a while has begun, before the first cell."""
        ...

    def cell(self, number: int, total: int, name: str) -> None:
        """Cell `number` of `total` begins; the ones before it are done."""
        ...

    def close(self) -> None:
        """Nothing runs any more."""
        ...


def progress() -> Progress:
    """A bar where stderr is a terminal, else plain lines."""
    return ProgressBar() if sys.stderr.isatty() else ProgressLines()


class ProgressLines:
    """A line for each cell as it begins, with the time since the start: for logs of machines."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def say(self, what: str) -> None:
        """Tell what is being done."""
        print(f"{visible_line(what)} …", file=sys.stderr, flush=True)

    def cell(self, number: int, total: int, name: str) -> None:
        """Tell which cell begins."""
        elapsed = units.seconds(time.monotonic() - self._start)
        print(f"[{number}/{total}] after {elapsed}: {printable(name)}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing more is told."""


class ProgressBar:
    """A bar with the number of cells done, the time since the start, and the cell that runs."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            # Code is full of [brackets]; none of them is a colour.
            TextColumn("{task.description}", markup=False),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def say(self, what: str) -> None:
        """Tell what is being done."""
        self._bar.update(self._task, description=f"{visible_line(what)} …")

    def cell(self, number: int, total: int, name: str) -> None:
        """Tell which cell begins."""
        self._bar.update(self._task, completed=number - 1, total=total, description=printable(name))

    def close(self) -> None:
        """Nothing more is told; the bar goes, what came out is said below it."""
        self._bar.stop()


def printable(text: str, limit: int = 60) -> str:
    """The text without what could move a terminal's cursor, and at most `limit` characters of it."""
    shown = "".join(character if character.isprintable() else " " for character in text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
