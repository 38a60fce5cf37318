"""Time and memory that a lab asks for, measured again by the grader: receipts handed in prove nothing.

The cell is run again in the sandbox, and its time and memory are taken from outside: nothing in there can
change a clock. A cell that needs nothing of the student's is run where no student's code ever ran, while all
that the student's cells have left running stands still, so none can slow it down. What remains possible is
code that knows the cell it runs in; it stands in the notebook for all to read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record.errors import NotVerifiedError
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, missing
from jupyter_mlgpu.record.record import Cell, DeviceUse, Record, Run
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.grading.cells import TeachersCell

#: Runs of each cell. Four are enough to judge a ratio (`faster_than`), and the median bears two bad ones.
RUNS = 5

_SOURCE = say("the grader's clock, outside the sandbox")
_NO_DEVICE = say("where the student's work ran cannot be measured here: the sandbox has no GPU")


class Measurable(Protocol):
    """Where cells can be run again: `student.Student`, or a fake of it."""

    def time(self, code: str) -> tuple[float, str | None]:
        """Seconds, and why it failed, if it did."""
        ...

    def paused(self) -> AbstractContextManager[None]:
        """A block in which nothing that cells have left running goes on."""
        ...

    def peak(self, code: str) -> tuple[float, str | None]:
        """Bytes, and why it failed, if it did."""
        ...


class Measured:
    """A submission's cells as the grader measures them: the same questions as `teach.lessons.labs.Submitted`
    answers.

    `mine` runs the student's cells, `apart` those of the lab alone.
    """

    def __init__(self, cells: Sequence[TeachersCell], mine: Measurable, apart: Measurable) -> None:
        self._cells: Mapping[str, TeachersCell] = {cell.name: cell for cell in cells if cell.role == "given"}
        self._mine, self._apart = mine, apart
        self._seconds: dict[str, list[float]] = {}

    def same_machine(self, *cells: str) -> None:
        """Takes their times in turns, so that what slows the machine down meets all of them alike."""
        self._measure(cells)

    def ready(self, *cells: str) -> bool:
        """Always: the grader measures for itself. Takes their times in turns."""
        self.same_machine(*cells)
        return True

    def seconds(self, cell: str) -> float:
        """The median wall time of a cell. Raises AssertionError where it fails."""
        self._measure([cell])
        return median(self._seconds[cell])

    def peak(self, cell: str) -> float | None:
        """The most memory that the process with the cell held while it ran, in bytes."""
        code, place = self._place(cell)
        most, failed = place.peak(code)
        self._ended_well(cell, failed)
        return most

    def devices(self, cell: str) -> list[str]:
        """Always raises NotVerifiedError: the student's own device is not here."""
        raise NotVerifiedError(
            f"{_NO_DEVICE}. The receipt under {cell!r} gives it, but only on the student's own word."
        )

    def runs(self, cell: str) -> list[Record]:
        """The grader's runs of a cell as records, each with its time and the same peak of memory."""
        peak = self.peak(cell)
        self._measure([cell])
        code, _ = self._place(cell)
        digest = hashlib.sha256(code.encode(errors="replace")).hexdigest()[:16]
        memory = Reading(
            "peak_memory_process",
            peak,
            "bytes",
            "process",
            OPERATING_SYSTEM,
            1,
            detail=Sentence("looks from outside the sandbox"),
        )
        return [
            Record(
                Run("grader", None, "0" * 12),
                Cell(number, cell, None, digest, cell),
                "",
                0,
                "ok",
                DeviceUse({}, None, _NO_DEVICE),
                (
                    Reading("wall_time", seconds, "s", "cell", "clock", 1, detail=_SOURCE),
                    memory,
                    missing("device_time", _NO_DEVICE),
                ),
            )
            for number, seconds in enumerate(self._seconds[cell], start=1)
        ]

    def _measure(self, names: Sequence[str]) -> None:
        wanted = [name for name in dict.fromkeys(names) if name not in self._seconds]
        places = {name: self._place(name) for name in wanted}
        taken: dict[str, list[float]] = {name: [] for name in wanted}
        for _ in range(RUNS):
            for name, (code, place) in places.items():
                with self._mine.paused() if place is self._apart else nullcontext():
                    seconds, failed = place.time(code)
                self._ended_well(name, failed)
                taken[name].append(seconds)
        self._seconds.update(taken)

    def _place(self, name: str) -> tuple[str, Measurable]:
        if name not in self._cells:
            raise AssertionError(f"The lab has no given cell {name!r} that could be measured again.")
        cell = self._cells[name]
        return cell.source, self._apart if cell.alone else self._mine

    @staticmethod
    def _ended_well(name: str, failed: str | None) -> None:
        if failed is not None:
            raise AssertionError(f"The cell {name!r} did not run to the end when it was graded: {failed}")
