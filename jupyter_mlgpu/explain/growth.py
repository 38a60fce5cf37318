"""Whether the runs of one cell leave ever more memory behind: bytes a run, with how far to trust the figure.

Pure functions over records. The runs of a cell are the records of one kernel with the same code and, where
the front end sends one, the same cell id. A block that is traced again and again, in a cell or a script,
is looked at by its name in the same way. What counts is memory when the cell had ended (`memory_process`,
`memory_allocator`), not its peak: a peak that comes again at each run is no leak.

The first run is left out, for it imports, compiles and fills caches; so are runs that raised or were
interrupted (their traceback keeps what the cell had made) and profiled ones.

Growth is said to a student (`Growth.growing`) where three things hold. The interval's lower end is at least
`WORTH`, so that noise does not explain it and it matters in a day's work. And the newer half of the runs
grows at least half as fast as all of them: a step, or caches that are full by now, is no leak. 1 MiB a run is
our own choice: what a kernel keeps of every cell (its source, its number, our record) is some kilobytes, and
the resident set jumps by a few hundred. And at least half of the growth came while the cell itself ran: what
other cells keep in between is told of them.

What it cannot tell: memory that was freed inside the process is used again before new memory is taken, so
growth can begin late; and a heap that falls to pieces grows a little without anything being kept.
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

#: What is compared over the runs, in this order.
QUANTITIES = ("memory_process", "memory_allocator")

#: Runs left out at the beginning of a cell's life.
FIRST_RUNS = 1

#: Runs that an interval needs beside those: with four, no pair of slopes encloses the true one at 95 %.
FEWEST = 5

#: How many of the last runs are looked at where nobody says otherwise, and at most.
LAST = 20
MOST = 100

#: Growth that is worth a sentence, in bytes a run.
WORTH = 1024**2


@dataclass(frozen=True, slots=True)
class Growth:
    """Growth of one quantity, in bytes a run, over `runs` runs; `instrument` says who measured it.

    `newer` is the growth over the newer half of these runs. `own` is the growth without what came while other
    cells ran in between: all of it where none ran. None where that is not known.
    """

    quantity: str
    instrument: Instrument
    runs: int
    slope: Estimate
    newer: float
    own: float | None

    @property
    def within_noise(self) -> bool:
        """Whether no growth at all would explain the figures, too."""
        return self.slope.low <= 0 <= self.slope.high

    @property
    def goes_on(self) -> bool:
        """Whether the newer half of the runs still grows, at half the speed of all of them or more."""
        return self.newer >= self.slope.value / 2

    @property
    def of_others(self) -> bool:
        """Whether most of the growth came from other cells that ran in between."""
        return self.own is not None and self.own < self.slope.value / 2

    @property
    def growing(self) -> bool:
        """Whether it is worth telling a student (see this module)."""
        return self.slope.low >= WORTH and self.goes_on and not self.of_others


@dataclass(frozen=True, slots=True)
class CellGrowth:
    """The runs of one cell: the newest, how many of them count, and what grew (empty: too few runs)."""

    newest: Record
    counted: int
    growths: tuple[Growth, ...]

    @property
    def too_few(self) -> int:
        """How many more runs it takes."""
        return max(0, FEWEST - self.counted)


def of_run(records: Sequence[Record], newest: Record, last: int = LAST) -> CellGrowth | None:
    """The growth over the runs of the cell that `newest` is a run of; `records` are those before it.

    None where it is no cell (a traced block of a script), a run that does not count, or one of too few.
    """
    runs = _runs([one for one in records if one.code == newest.code], newest)
    return _of_runs(runs, _cells(records, newest.run.id), last) if runs else None


def may_be_growing(earlier: Sequence[Record], newest: Record, last: int = LAST) -> bool:
    """Whether `of_run` can find anything `growing`, asked after every cell; `earlier` are the cell's runs."""
    counted = _counted(_runs(earlier, newest), last)
    return any(
        max(points.values()) - min(points.values()) >= WORTH * _farthest(len(points))
        for quantity in QUANTITIES
        for points in _series(counted, Instruments([run for _, run in counted], quantity)).values()
    )


@cache
def _farthest(count: int) -> float:
    """How far apart two runs are that grew by `WORTH` a run, if `count` runs are to be called growing.

    Infinitely far where the runs are too few for that.

    For that, at most `rank` slopes may lie below `WORTH`. There are more pairs than that which are so far
    apart, or farther; so one of them has grown by `WORTH` times the distance, or more.
    """
    rank = theil_sen_rank(count)
    if rank is None:
        return inf
    farther = zip(range(count - 1, 0, -1), accumulate(range(1, count)), strict=True)
    return next(distance for distance, pairs in farther if pairs > rank)


def of_all(records: Sequence[Record], last: int = LAST) -> list[CellGrowth]:
    """The growth of every cell, in the order in which they first ran."""
    cells: dict[tuple[str, str | None, str | None], list[Record]] = {}
    for record in records:
        if record.cell.source_digest is not None:
            cells.setdefault(record.code, []).append(record)
    kernels = {run: _cells(records, run) for run in {run for run, _, _ in cells}}
    return [_of_runs(runs, kernels[key[0]], last) for key, runs in cells.items()]


def of_blocks(records: Sequence[Record], last: int = LAST) -> list[CellGrowth]:
    """The growth of the blocks traced often enough under one name, in the order in which they first ran."""
    blocks: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        if record.cell.source_digest is None:
            blocks.setdefault((record.run.id, record.cell.name), []).append(record)
    return [_of_runs(runs, (), last) for runs in blocks.values() if len(runs) >= FIRST_RUNS + FEWEST]


def _cells(records: Sequence[Record], run: str) -> list[Record]:
    """A kernel's cells in their order, without the blocks traced inside them."""
    cells = (one for one in records if one.run.id == run and one.cell.source_digest is not None)
    return sorted(cells, key=_sequence)


def _sequence(record: Record) -> int:
    return record.cell.sequence


def _counts(record: Record) -> bool:
    return record.outcome == "ok" and record.mode == "light"


def _runs(earlier: Sequence[Record], newest: Record) -> Sequence[Record]:
    """The runs of a cell up to `newest`; empty where that does not count, or there are too few."""
    if newest.cell.source_digest is None or not _counts(newest):
        return ()
    return [*earlier, newest] if len(earlier) + 1 >= FIRST_RUNS + FEWEST else ()


def _counted(runs: Sequence[Record], last: int) -> list[tuple[int, Record]]:
    """The last runs that count, with their numbers."""
    # A run that does not count still ran, and may have left something: it keeps its number.
    numbers = range(len(runs) - 1, FIRST_RUNS - 1, -1)
    newest = ((number, runs[number]) for number in numbers if _counts(runs[number]))
    return list(islice(newest, last))[::-1]


def _of_runs(runs: Sequence[Record], cells: Sequence[Record], last: int) -> CellGrowth:
    counted = _counted(runs, last)
    befores = [_before(run, cells) for _, run in counted]
    growths: list[Growth] = []
    for quantity in QUANTITIES:
        instruments = Instruments([run for _, run in counted] + [one for one in befores if one], quantity)
        for instrument, points in _series(counted, instruments).items():
            xs, ys, half = list(points), list(points.values()), len(points) // 2
            slope = theil_sen_interval(xs, ys)
            if slope is not None:
                others = _of_others(counted, befores, instruments, instrument)
                own = None if others is None else slope.value - others
                newer = theil_sen(xs[half:], ys[half:])
                growths.append(Growth(quantity, instrument, len(points), slope, newer, own))
    return CellGrowth(runs[-1], len(counted), tuple(growths))


def _before(run: Record, cells: Sequence[Record]) -> Record | None:
    """The cell that ran before it."""
    place = bisect_left(cells, run.cell.sequence, key=_sequence)
    return cells[place - 1] if place > 0 else None


def _series(
    runs: Sequence[tuple[int, Record]], instruments: Instruments
) -> dict[Instrument, dict[int, float]]:
    """Value by number of the run, for each instrument: every device has an allocator of its own."""
    series: dict[Instrument, dict[int, float]] = {}
    for number, run in runs:
        for instrument, value in instruments.values(run).items():
            series.setdefault(instrument, {})[number] = value
    return series


def _of_others(
    counted: Sequence[tuple[int, Record]],
    befores: Sequence[Record | None],
    instruments: Instruments,
    instrument: Instrument,
) -> float | None:
    """Return the growth per run that came while other cells ran between the runs; None where not known."""
    sums: dict[int, float] = {}
    so_far, last = 0.0, None
    for (number, run), before in zip(counted, befores, strict=True):
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
