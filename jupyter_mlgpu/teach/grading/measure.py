"""Measurements of time and memory made by the grader, because submitted receipts prove nothing.

The cell runs again in the sandbox, and its time and memory are measured from outside, so nothing inside can
change a clock. A cell that uses nothing of the student's runs in a process that never ran a student's code,
while all processes of the student are paused. So they cannot slow it down. Code that detects the cell it runs
in remains possible; it is visible in the notebook.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record.errors import NotVerifiedError
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, missing
from jupyter_mlgpu.record.record import Cell, DeviceUse, Record, Run
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.grading.cells import TeachersCell
from jupyter_mlgpu.teach.lessons import speedups
from jupyter_mlgpu.teach.lessons.speedups import Speedup

#: Runs of each cell. Four are enough to judge a ratio (`faster_than`), and the median tolerates two outliers.
RUNS = 5

_SOURCE = say("the grader's clock, outside the sandbox")
_NO_DEVICE = say("where the student's work ran cannot be measured here: the sandbox has no GPU")


class Measurable(Protocol):
    """A process in which cells can be run again: `student.Student`, or a fake."""

    def time(self, code: str) -> tuple[float, str | None]:
        """Return the seconds of a run, and an error message if it failed."""
        ...

    def paused(self) -> AbstractContextManager[None]:
        """Pause everything that cells have left running."""
        ...

    def peak(self, code: str) -> tuple[float, str | None]:
        """Return the peak memory in bytes, and an error message if the run failed."""
        ...


class Measured:
    """Measurements of a submission's cells by the grader, with the interface of `labs.Submitted`.

    `mine` runs the student's cells, `apart` the lab's own cells. `alone` keeps other submissions still while
    one is measured.
    """

    def __init__(
        self,
        cells: Sequence[TeachersCell],
        mine: Measurable,
        apart: Measurable,
        alone: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._cells: Mapping[str, TeachersCell] = {cell.name: cell for cell in cells if cell.role == "given"}
        self._mine, self._apart, self._alone = mine, apart, alone
        self._seconds: dict[str, list[float]] = {}

    def same_machine(self, *cells: str) -> None:
        """Measure the times of these cells in turns, so that a slow machine affects all of them alike."""
        self._measure(cells)

    def ready(self, *cells: str) -> bool:
        """Measure the times of these cells in turns, and return True."""
        self.same_machine(*cells)
        return True

    def seconds(self, cell: str) -> float:
        """Return the median wall time of a cell; raises AssertionError if it fails."""
        self._measure([cell])
        return median(self._seconds[cell])

    def peak(self, cell: str) -> float | None:
        """Return the peak memory in bytes of the process while the cell ran."""
        code, place = self._place(cell)
        with self._alone():
            most, failed = place.peak(code)
        self._ended_well(cell, failed)
        return most

    def devices(self, cell: str) -> list[str]:
        """Raise NotVerifiedError, because the grader's machine does not have the student's device."""
        raise NotVerifiedError(
            f"{_NO_DEVICE}. The receipt under {cell!r} gives it, but only on the student's own word."
        )

    def runs(self, cell: str) -> list[Record]:
        """Return the grader's runs of a cell as records, each with its time and the same peak memory."""
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

    def times_faster(
        self,
        fast: Callable[..., Any],
        slow: Callable[..., Any],
        fresh: Callable[[int], tuple[Any, ...]],
        least: float,
    ) -> Speedup:
        """Return how many times as fast `fast`, a function of the student's, is as the lab's own `slow`.

        Raises NotVerifiedError if it stays uncertain whether the ratio is `least`, and AssertionError if the
        results differ.
        """
        with self._alone():
            found = speedups.judge(speedups.timed_rounds(fast, slow, fresh, self._mine.paused), least)
        if found.state == "cannot judge":
            raise NotVerifiedError(translate(found.sentence))
        print(translate(found.sentence))
        return found

    def _measure(self, names: Sequence[str]) -> None:
        wanted = [name for name in dict.fromkeys(names) if name not in self._seconds]
        with self._alone():
            self._measure_in_turns(wanted)

    def _measure_in_turns(self, wanted: Sequence[str]) -> None:
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
