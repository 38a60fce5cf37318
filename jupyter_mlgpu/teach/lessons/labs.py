"""Checks on measurements for labs: `assert_gpu_used`, `peak_below`, `faster_than`, `submitted`.

Each returns a judgement that can be displayed, and raises AssertionError only if the measurements show that
the claim is false. A claim that cannot be judged (not measured, too few runs) is reported and is no error.

Runs are given by a cell's number as in `%mlc_trace show` (all runs of its code), by the name of a
`jupyter_mlgpu.trace("name")` block, or as records. A lab reads them from the saved notebook. During `jupyter
mlgpu class grade` the cells are measured again, because the records in a notebook prove nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from jupyter_mlgpu.explain.comparing import expect
from jupyter_mlgpu.explain.comparing.expect import Judgement
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.measure.tracing import Runs, records, runs_of
from jupyter_mlgpu.record.errors import NotVerifiedError, UsageError
from jupyter_mlgpu.record.language import current_language, translate
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, of_error, say
from jupyter_mlgpu.teach.lessons import speedups
from jupyter_mlgpu.teach.lessons.speedups import Speedup
from jupyter_mlgpu.teach.submissions import Submission, find_inconsistencies, read


def assert_gpu_used(run: Runs | None = None) -> Judgement:
    """Judge if a cell's last run used a GPU; without an argument, that of the last cell measured.

    >>> assert_gpu_used()  # doctest: +SKIP
    ✓ holds: 'model.fit(x, y)' ran on gpu:0.
    """
    found = records() if run is None else runs_of(run)
    if not found:
        raise UsageError("No cell has been measured yet: run one with tracing on, then ask again.")
    return _require(expect.gpu_used(found[-1]))


def peak_below(run: Runs, limit: float, quantity: str = "peak_memory_process") -> Judgement:
    """Judge if the median peak memory of runs is below `limit` bytes.

    `quantity` is peak_memory_process, peak_memory_allocator or peak_memory_device, which measure three
    different things.

    >>> peak_below(3, 2 * 1024**3)  # doctest: +SKIP
    ✓ holds: Peak memory, process 512 MiB (median of 3 runs), below 2 GiB.
    """
    return _require(expect.peak_below(runs_of(run), limit, quantity))


def faster_than(fast: Runs, slow: Runs, times: float = 1.0) -> Judgement:
    """Judge if the wall time of `fast` is at least `times` times lower than that of `slow`.

    Four runs of each are enough for a judgement.

    >>> faster_than("with the graph", "without", times=2)  # doctest: +SKIP
    ○ cannot judge: 81.2 ms (1 run) beside 214 ms (1 run): one run each.
    """
    return _require(expect.faster_than(runs_of(fast), runs_of(slow), times))


def _require(judgement: Judgement) -> Judgement:
    """Return the judgement, or raise an error if a grader cannot judge it."""
    if _grader is not None and judgement.state == "cannot judge":
        raise NotVerifiedError(judgement.sentence)
    return expect.required(replace(judgement, language=current_language()))


class Measurements(Protocol):
    """The measurements of a notebook that a lab can use.

    `Submitted` reads them from the saved records; a grader measures again.
    """

    def runs(self, cell: str) -> list[Record]:
        """Return the runs of a cell."""
        ...

    def seconds(self, cell: str) -> float:
        """Return the wall time of a cell in seconds."""
        ...

    def peak(self, cell: str) -> float | None:
        """Return the largest peak memory of the process, in bytes."""
        ...

    def devices(self, cell: str) -> list[str]:
        """Return the devices on which the last run's operations ran."""
        ...

    def same_machine(self, *cells: str) -> None:
        """Raise AssertionError if the times of these cells cannot be compared."""
        ...

    def ready(self, *cells: str) -> bool:
        """Return True if these cells can be judged."""
        ...

    def times_faster(
        self,
        fast: Callable[..., Any],
        slow: Callable[..., Any],
        fresh: Callable[[int], tuple[Any, ...]],
        least: float,
    ) -> Speedup:
        """Return how many times as fast `fast` is as `slow`, judged against `least`."""
        ...


class Submitted:
    """A notebook that a student saved, with its records as measurements; `submitted` returns one."""

    def __init__(self, notebook: Submission, given: Submission | None = None) -> None:
        """`given` is the graded notebook, in which all cells except the student's are the lab's own."""
        self._notebook = notebook
        self._given = given

    def runs(self, cell: str) -> list[Record]:
        """Return the records saved under a cell, given by its nbgrader id or its Jupyter id.

        Raises AssertionError if there is none, or if one is inconsistent: it belongs to other code, was
        edited, is a copy, or does not fit the records before and after it.
        """
        try:
            found = self._notebook.cell(cell)
            given = found if self._given is None else self._given.cell(cell)
        except UsageError as error:
            raise AssertionError(translate(of_error(error))) from None
        if not found.saved:
            why = say(
                "No record is saved under {cell} of {notebook}. Run the notebook with "
                "tracing on from the first cell, save it, and hand it in unchanged.",
                cell=found.title,
                notebook=self._notebook.name,
            )
            raise AssertionError(translate(why))
        against = find_inconsistencies(self._notebook, found)
        if given.digest != found.digest:
            against.append(say("The code of {cell} differs from the lab's.", cell=found.title))
        if against:
            raise AssertionError(translate(joined(*against)))
        return [saved.record for saved in found.saved]

    def seconds(self, cell: str) -> float:
        """Return the time of a cell and its GPU work in seconds; the median of several runs.

        One run is one measurement. Compare cells only if the expected times differ several times over, more
        than two runs of the same cell ever do. Raises AssertionError as `runs` does, and if no run succeeded
        without a profiler.
        """
        light = [one for one in self.runs(cell) if one.mode == "light" and one.outcome == "ok"]
        known = [one.duration for one in light if one.duration is not None]
        if not known:
            why = say(
                "No timing is saved under cell {cell}: run it to the end without a profiler.",
                cell=repr(cell),
            )
            raise AssertionError(translate(why))
        return median(known)

    def peak(self, cell: str) -> float | None:
        """Return the largest peak memory of the process in the runs of a cell, in bytes; None if unknown."""
        readings = [each for one in self.runs(cell) for each in one.readings]
        peaks = [one.value for one in readings if one.quantity == "peak_memory_process"]
        return max((peak for peak in peaks if peak is not None), default=None)

    def devices(self, cell: str) -> list[str]:
        """Return the devices used by a cell's last run, such as `cpu:0`; empty if unknown."""
        return [one.device for one in self.runs(cell)[-1].device.ran_on or ()]

    def same_machine(self, *cells: str) -> None:
        """Raise AssertionError if these cells were run by different kernels."""
        if len({one.run.id for cell in cells for one in self.runs(cell)}) > 1:
            why = say(
                "The cells {cells} were not all run by the same kernel. Restart the kernel, "
                "run all cells, and save the notebook.",
                cells=", ".join(cells),
            )
            raise AssertionError(translate(why))

    def ready(self, *cells: str) -> bool:
        """Return True if records of these cells are saved; raises AssertionError as `same_machine` does.

        While the student works, a missing record is only reported. A grader gets an error.
        """
        if self._given is None and not all(self._notebook.cell(cell).saved for cell in cells):
            print(
                translate(say("○ Not saved yet: run all cells, save the notebook, and run this cell again."))
            )
            return False
        self.same_machine(*cells)
        return True

    def times_faster(
        self,
        fast: Callable[..., Any],
        slow: Callable[..., Any],
        fresh: Callable[[int], tuple[Any, ...]],
        least: float,
    ) -> Speedup:
        """Return how many times as fast `fast` is as `slow`, timed now in turns, and print it.

        `fresh` makes arguments from a number; each call gets others. While a grader times `slow`, what the
        student's cells have left running is paused. Raises AssertionError if the results differ. A grader
        gets NotVerifiedError if it stays uncertain whether the ratio is `least`.
        """
        found = speedups.judge(speedups.timed_rounds(fast, slow, fresh), least)
        if _grader is not None and found.state == "cannot judge":
            raise NotVerifiedError(translate(found.sentence))
        print(translate(found.sentence))
        return found


#: Replaces the notebook's own records while a lab is graded.
_grader: Callable[[str], Measurements] | None = None


@contextmanager
def graded_by(grader: Callable[[str], Measurements]) -> Iterator[None]:
    """Make `submitted` return `grader(name)` within the block; `name` is a notebook's file name."""
    global _grader
    before, _grader = _grader, grader
    try:
        yield
    finally:
        _grader = before


def submitted(notebook: str) -> Measurements:
    """Return the measurements of the notebook with this file name, as the student saved it.

    The file is read from the kernel's folder. During `jupyter mlgpu class grade`, its cells are measured
    again instead. When nbgrader grades on its own, the file is read from its folder `submitted`. Raises
    AssertionError if there is no readable file.

    >>> mine = submitted("lab_2_devices.ipynb")  # doctest: +SKIP
    >>> faster_than(mine.runs("one-large"), mine.runs("many-small"))  # doctest: +SKIP
    """
    if _grader is not None:
        return _grader(notebook)
    here, folder = Path.cwd(), _folder()
    try:
        return Submitted(read(folder / notebook), None if folder == here else read(here / notebook))
    except UsageError as error:
        raise AssertionError(str(error)) from None


def _folder() -> Path:
    """Return the folder of the notebook with outputs; nbgrader runs a copy without them."""
    here = Path.cwd()
    # nbgrader grades in COURSE/autograded/STUDENT/LAB and keeps submissions in COURSE/submitted/STUDENT/LAB.
    if os.environ.get("NBGRADER_EXECUTION") == "autograde" and here.parents[1].name == "autograded":
        return here.parents[2] / "submitted" / here.parent.name / here.name
    return here
