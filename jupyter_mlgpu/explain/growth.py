"""Estimate if the runs of one cell leave more and more memory behind, in bytes per run with an interval.

The functions here are pure functions over records. The runs of a cell are the records of one kernel with the
same code and, if the front end sends one, the same cell id. A block that is traced again and again, in a cell
or a script, is identified by its name. What counts is the memory at the end of the cell (`memory_process`,
`memory_allocator`), not its peak: a peak that recurs in each run is no leak.

The first run is left out, because it imports, compiles and fills caches. So are profiled runs, and runs that
raised or were interrupted (their traceback keeps what the cell had created).

Growth is reported to a student (`Growth.growing`) if three things hold. First, the interval's lower end is at
least `WORTH`, so noise does not explain it and it matters in a day's work. Second, the newer half of the runs
grows at least half as fast as all of them: a step, or caches that are full by now, is no leak. Third, at
least half of the growth came while the cell itself ran: what other cells keep in between is reported for
them. 1 MiB per run is our own choice: what a kernel keeps of every cell (its source, its number, our record)
is some kilobytes, and the resident set jumps by a few hundred.

Two limits of the method: memory that was freed inside the process is used again before new memory is taken,
so growth can begin late; and a fragmenting heap grows a little without anything being kept.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, islice
from math import inf

from jupyter_mlgpu.explain.statistics import Estimate, theil_sen, theil_sen_interval, theil_sen_rank
from jupyter_mlgpu.record.instruments import Instrument, Instruments
from jupyter_mlgpu.record.record import Record

#: The quantities that are compared over the runs, in this order.
QUANTITIES = ("memory_process", "memory_allocator")

#: Runs that are left out at the beginning of a cell's life.
FIRST_RUNS = 1

#: Runs that an interval needs in addition: with four, no pair of slopes encloses the true one at 95 %.
FEWEST = 5

#: The default number of most recent runs that are used, and the largest one.
LAST = 20
MOST = 100

#: Growth that is worth a sentence, in bytes per run.
WORTH = 1024**2


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth of one quantity, in bytes per run, over `runs` runs, measured by `instrument`.

    `newer` is the growth over the newer half of these runs. `own` is the growth without what came while other
    cells ran in between: all of it if none ran, None if it is not known.
    """

    quantity: str
    instrument: Instrument
    runs: int
    slope: Estimate
    newer: float
    own: float | None

    @property
    def within_noise(self) -> bool:
        """True if no growth at all would explain the figures, too."""
        return self.slope.low <= 0 <= self.slope.high

    @property
    def goes_on(self) -> bool:
        """True if the newer half of the runs grows at least half as fast as all of them."""
        return self.newer >= self.slope.value / 2

    @property
    def of_others(self) -> bool:
        """True if most of the growth came from other cells that ran in between."""
        return self.own is not None and self.own < self.slope.value / 2

    @property
    def growing(self) -> bool:
        """True if the growth is worth reporting to a student (see this module)."""
        return self.slope.low >= WORTH and self.goes_on and not self.of_others


@dataclass(frozen=True, slots=True)
class CellGrowth:
    """The growth of one cell; `growths` is empty if too few runs count."""

    newest: Record
    counted: int
    growths: tuple[Growth, ...]

    @property
    def too_few(self) -> int:
        """The number of further runs that are needed."""
        return max(0, FEWEST - self.counted)


def of_run(records: Sequence[Record], newest: Record, last: int = LAST) -> CellGrowth | None:
    """Return the growth over the runs of the cell of `newest`; `records` are those before it.

    Return None if it is no cell (a traced block of a script), a run that does not count, or one of too few.
    """
    runs = _runs([one for one in records if one.code == newest.code], newest)
    return _of_runs(runs, _cells(records, newest.run.id), last) if runs else None


def may_be_growing(earlier: Sequence[Record], newest: Record, last: int = LAST) -> bool:
    """Return True if `of_run` can find anything `growing`: a fast test for every cell.

    `earlier` are the cell's runs.
    """
    counted = _counted(_runs(earlier, newest), last)
    if not any(_range(counted, quantity) >= WORTH for quantity in QUANTITIES):
        return False
    return any(
        max(points.values()) - min(points.values()) >= WORTH * _least_distance(len(points))
        for quantity in QUANTITIES
        for points in _series(counted, Instruments([run for _, run in counted], quantity)).values()
    )


def _range(runs: Sequence[tuple[int, Record]], quantity: str) -> float:
    """Return the difference of the largest and the smallest value, whatever the instrument."""
    values = [
        one.value
        for _, run in runs
        for one in run.readings
        if one.quantity == quantity and one.value is not None
    ]
    return max(values) - min(values) if values else 0.0


@cache
def _least_distance(count: int) -> float:
    """Return the least distance of two runs that must have grown by `WORTH` per run in a growing cell.

    `count` is the number of runs. The distance is infinite if there are too few. To be called growing, at
    most `rank` slopes may be below `WORTH`. More pairs than that are at least this far apart, so one of them
    has grown by at least `WORTH` times the distance.
    """
    rank = theil_sen_rank(count)
    if rank is None:
        return inf
    farther = zip(range(count - 1, 0, -1), accumulate(range(1, count)), strict=True)
    return next(distance for distance, pairs in farther if pairs > rank)


def of_all(records: Sequence[Record], last: int = LAST) -> list[CellGrowth]:
    """Return the growth of every cell, in the order of their first runs."""
    cells: dict[tuple[str, str | None, str | None], list[Record]] = {}
    for record in records:
        if record.cell.source_digest is not None:
            cells.setdefault(record.code, []).append(record)
    kernels = {run: _cells(records, run) for run in {run for run, _, _ in cells}}
    return [_of_runs(runs, kernels[key[0]], last) for key, runs in cells.items()]


def of_blocks(records: Sequence[Record], last: int = LAST) -> list[CellGrowth]:
    """Return the growth of blocks traced often enough under one name, in the order of their first runs."""
    blocks: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.cell.source_digest is None:
            blocks.setdefault((record.run.id, record.cell.name), []).append(record)
    return [_of_runs(runs, (), last) for runs in blocks.values() if len(runs) >= FIRST_RUNS + FEWEST]


def _cells(records: Sequence[Record], run: str) -> list[Record]:
    """Return a kernel's cells in order, without the blocks traced inside them."""
    cells = (one for one in records if one.run.id == run and one.cell.source_digest is not None)
    return sorted(cells, key=_sequence)


def _sequence(record: Record) -> int:
    return record.cell.sequence


def _counts(record: Record) -> bool:
    return record.outcome == "ok" and record.mode == "light"


def _runs(earlier: Sequence[Record], newest: Record) -> Sequence[Record]:
    """Return the runs of a cell up to `newest`; empty if that does not count, or if there are too few."""
    if newest.cell.source_digest is None or not _counts(newest):
        return ()
    return [*earlier, newest] if len(earlier) + 1 >= FIRST_RUNS + FEWEST else ()


def _counted(runs: Sequence[Record], last: int) -> list[tuple[int, Record]]:
    """Return the last runs that count, with their numbers."""
    # A run that does not count still ran, and may have left memory behind: it keeps its number.
    numbers = range(len(runs) - 1, FIRST_RUNS - 1, -1)
    newest = ((number, runs[number]) for number in numbers if _counts(runs[number]))
    return list(islice(newest, last))[::-1]


def _of_runs(runs: Sequence[Record], cells: Sequence[Record], last: int) -> CellGrowth:
    counted = _counted(runs, last)
    preceding = [_before(run, cells) for _, run in counted]
    growths: list[Growth] = []
    for quantity in QUANTITIES:
        instruments = Instruments([run for _, run in counted] + [one for one in preceding if one], quantity)
        for instrument, points in _series(counted, instruments).items():
            xs, ys, half = list(points), list(points.values()), len(points) // 2
            slope = theil_sen_interval(xs, ys)
            if slope is not None:
                others = _of_others(counted, preceding, instruments, instrument)
                own = None if others is None else slope.value - others
                newer = theil_sen(xs[half:], ys[half:])
                growths.append(Growth(quantity, instrument, len(points), slope, newer, own))
    return CellGrowth(runs[-1], len(counted), tuple(growths))


def _before(run: Record, cells: Sequence[Record]) -> Record | None:
    """Return the cell that ran before this one."""
    place = bisect_left(cells, run.cell.sequence, key=_sequence)
    return cells[place - 1] if place > 0 else None


def _series(
    runs: Sequence[tuple[int, Record]], instruments: Instruments
) -> dict[Instrument, dict[int, float]]:
    """Return values by run number, for each instrument: every device has an allocator of its own."""
    series: dict[Instrument, dict[int, float]] = {}
    for number, run in runs:
        for instrument, value in instruments.values(run).items():
            series.setdefault(instrument, {})[number] = value
    return series


def _of_others(
    counted: Sequence[tuple[int, Record]],
    preceding: Sequence[Record | None],
    instruments: Instruments,
    instrument: Instrument,
) -> float | None:
    """Return the growth per run that came while other cells ran in between, or None if not known."""
    sums: dict[int, float] = {}
    so_far, last = 0.0, None
    for (number, run), before in zip(counted, preceding, strict=True):
        value = instruments.values(run).get(instrument)
        if value is None:
            continue
        if last is not None and before is None:
            return None
        if last is not None and before is not None and before.code != run.code:
            reached = instruments.values(before).get(instrument)
            if reached is None:
                return None
            so_far += reached - last
        sums[number], last = so_far, value
    return theil_sen(list(sums), list(sums.values()))
