"""Checks for labs over what was measured: `assert_gpu_used`, `peak_below`, `faster_than`, `submitted`.

Each gives a judgement that shows itself, and raises AssertionError with a sentence only where the
measurements show that it does not hold. What cannot be judged (not measured, too few runs) is said, and is
no error.

Runs are named by a cell's number as in `%mlc_trace show` (all runs of its code), by the name of a
`jupyter_mlgpu.trace("name")` block, or given as records. A lab takes them from the notebook as it was saved.
While `jupyter mlgpu class grade` judges it, the grader measures again: what a notebook says of itself proves
nothing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from jupyter_mlgpu.explain.comparing import expect
from jupyter_mlgpu.explain.comparing.expect import Judgement
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.measure.tracing import Runs, records, runs_of
from jupyter_mlgpu.record.errors import NotVerifiedError, UsageError
from jupyter_mlgpu.record.language import current_language, translate
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import joined, of_error, say
from jupyter_mlgpu.teach.submissions import Submission, find_inconsistencies, read


def assert_gpu_used(run: Runs | None = None) -> Judgement:
    """Whether a cell's work ran on a GPU: its last run, or that of the last cell measured.

    >>> assert_gpu_used()  # doctest: +SKIP
    ✓ holds: 'model.fit(x, y)' ran on gpu:0.
    """
    found = records() if run is None else runs_of(run)
    if not found:
        raise UsageError("No cell has been measured yet: run one with tracing on, then ask again.")
    return _required(expect.gpu_used(found[-1]))


def peak_below(run: Runs, limit: float, quantity: str = "peak_memory_process") -> Judgement:
    """Whether the median peak memory of runs is below `limit` bytes.

    `quantity` is peak_memory_process, peak_memory_allocator or peak_memory_device: three different things.

    >>> peak_below(3, 2 * 1024**3)  # doctest: +SKIP
    ✓ holds: Peak memory, process 512 MiB (median of 3 runs), below 2 GiB.
    """
    return _required(expect.peak_below(runs_of(run), limit, quantity))


def faster_than(fast: Runs, slow: Runs, times: float = 1.0) -> Judgement:
    """Whether the runs of `fast` take less wall time than those of `slow`, at least `times` times less.

    Four runs of each are enough for a judgement.

    >>> faster_than("with the graph", "without", times=2)  # doctest: +SKIP
    ○ cannot judge: 81.2 ms (1 run) beside 214 ms (1 run): one run each.
    """
    return _required(expect.faster_than(runs_of(fast), runs_of(slow), times))


def _required(judgement: Judgement) -> Judgement:
    """The judgement, where it holds or nobody grades; what a grader cannot judge is left to the teacher."""
    if _grader is not None and judgement.state == "cannot judge":
        raise NotVerifiedError(judgement.sentence)
    return expect.required(replace(judgement, language=current_language()))


class Measurements(Protocol):
    """What a lab can ask of a notebook: see `Submitted`, whose answers are the receipts'."""

    def runs(self, cell: str) -> list[Record]:
        """The runs of a cell."""
        ...

    def seconds(self, cell: str) -> float:
        """The wall time of a cell in seconds."""
        ...

    def peak(self, cell: str) -> float | None:
        """The largest peak memory of the process, in bytes."""
        ...

    def devices(self, cell: str) -> list[str]:
        """The devices on which the last run's operations ran."""
        ...

    def same_machine(self, *cells: str) -> None:
        """Whether the times of these cells compare."""
        ...

    def ready(self, *cells: str) -> bool:
        """Whether these cells can be judged; where nobody grades, that they are not saved yet is no error."""
        ...


class Submitted:
    """A notebook as it was saved by the student, of which the records are evidence; made by `submitted`."""

    def __init__(self, notebook: Submission, given: Submission | None = None) -> None:
        """`given` is the notebook that is graded, in which all but the student's cells are the lab's own."""
        self._notebook = notebook
        self._given = given

    def runs(self, cell: str) -> list[Record]:
        """The records saved under a cell, which is named by nbgrader's id of it or by Jupyter's.

        Raises AssertionError with a sentence where there is none, or where something speaks against one:
        it is not of the code that stands there, was edited, is a copy, or does not fit its neighbours.
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
        """How long a cell and its GPU work took, in seconds; of several runs the median.

        One run is one measurement: compare cells only where the times wanted are several times apart, more
        than two runs of the same cell ever are. Raises AssertionError as `runs` does, and where no run ended
        well without a profiler.
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
        """The largest peak memory of the process in the runs of a cell, in bytes; None: not known."""
        readings = [each for one in self.runs(cell) for each in one.readings]
        peaks = [one.value for one in readings if one.quantity == "peak_memory_process"]
        return max((peak for peak in peaks if peak is not None), default=None)

    def devices(self, cell: str) -> list[str]:
        """The devices on which a cell's last run computed, such as `cpu:0`; empty: it is not known."""
        return [one.device for one in self.runs(cell)[-1].device.ran_on or ()]

    def same_machine(self, *cells: str) -> None:
        """Raises AssertionError where these cells were not run by one kernel: then times do not compare."""
        if len({one.run.id for cell in cells for one in self.runs(cell)}) > 1:
            why = say(
                "The cells {cells} were not all run by the same kernel. Restart the kernel, "
                "run all cells, and save the notebook.",
                cells=", ".join(cells),
            )
            raise AssertionError(translate(why))

    def ready(self, *cells: str) -> bool:
        """Whether records of these cells are saved, so that they can be judged; raises as `same_machine`.

        While the student works, what is not saved yet is said, and is no error. A grader gets the error.
        """
        if self._given is None and not all(self._notebook.cell(cell).saved for cell in cells):
            print(
                translate(say("○ Not saved yet: run all cells, save the notebook, and run this cell again."))
            )
            return False
        self.same_machine(*cells)
        return True


#: Who answers instead of a notebook's own receipts, while a lab is graded.
_grader: Callable[[str], Measurements] | None = None


@contextmanager
def graded_by(grader: Callable[[str], Measurements]) -> Iterator[None]:
    """While the block runs, `submitted` gives what `grader` gives for a notebook's file name."""
    global _grader
    before, _grader = _grader, grader
    try:
        yield
    finally:
        _grader = before


def submitted(notebook: str) -> Measurements:
    """The notebook with this file name as the student saved it; what was measured is read from there.

    That is the file beside the kernel, as it was last saved. While `jupyter mlgpu class grade` judges, its
    cells are measured again instead; while nbgrader grades without us, it is the file in its folder
    `submitted`. Raises AssertionError where there is none that can be read.

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
    """Where the notebook lies with its outputs: what nbgrader runs is a copy without them."""
    here = Path.cwd()
    # nbgrader grades in COURSE/autograded/STUDENT/LAB, of what it keeps in COURSE/submitted/STUDENT/LAB.
    if os.environ.get("NBGRADER_EXECUTION") == "autograde" and here.parents[1].name == "autograded":
        return here.parents[2] / "submitted" / here.parent.name / here.name
    return here
