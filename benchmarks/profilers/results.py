"""What the times say: pairs of the same round, their medians with intervals, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks import report
from benchmarks.cell_cost import TARGET_FIXED, TARGET_SHARE
from benchmarks.pairing import Pair
from benchmarks.profilers.conditions import BARE, LIGHT, OPS, PROFILER
from benchmarks.profilers.measure import Times
from jupyter_mlgpu.explain.statistics import Estimate, median_interval

#: A cell with --ops may take this many times as long as with the framework's profiler, parsing left out.
TARGET_OPS = 1.1


@dataclass(frozen=True, slots=True)
class Row:
    """A cell under a condition, beside another one in the same kernel and the same rounds.

    `target` is in seconds for light tracing, a ratio for --ops, None where nothing was promised.
    """

    framework: str
    cell: str
    condition: str
    beside: str
    pairs: tuple[Pair, ...]
    processor: tuple[Pair, ...]
    target: float | None

    @property
    def seconds(self) -> float:
        """The cell under this condition, in the median."""
        return median(pair.on for pair in self.pairs)

    @property
    def added(self) -> float:
        """Seconds more than beside, in the median of the pairs."""
        return median(pair.difference for pair in self.pairs)

    @property
    def added_interval(self) -> Estimate | None:
        """Where the median of the seconds added lies."""
        return median_interval([pair.difference for pair in self.pairs])

    @property
    def ratio(self) -> float:
        """How many times as long as beside, in the median of the pairs."""
        return median(pair.ratio for pair in self.pairs)

    @property
    def ratio_interval(self) -> Estimate | None:
        """Where the median of the ratios lies."""
        return median_interval([pair.ratio for pair in self.pairs])

    @property
    def processor_added(self) -> float:
        """Seconds of processor time more than beside, in the median of the pairs."""
        return median(pair.difference for pair in self.processor)

    @property
    def processor_interval(self) -> Estimate | None:
        """Where the median of the processor time added lies."""
        return median_interval([pair.difference for pair in self.processor])

    @property
    def verdict(self) -> report.Verdict | None:
        """Whether the target is kept; None where there is none."""
        if self.target is None:
            return None
        interval = self.ratio_interval if self.condition == OPS else self.added_interval
        return report.verdict(interval, self.target)


def rows(times: Times) -> list[Row]:
    """Each condition beside bare; --ops beside the framework's profiler, and without its parsing."""
    return sorted(
        (_row(times, side, condition) for side, condition in times.seconds if condition != BARE), key=_order
    )


def _row(times: Times, side: str, condition: str) -> Row:
    beside = PROFILER if condition == OPS else BARE
    off, on = times.seconds[side, beside], times.seconds[side, condition]
    target = None
    if condition == LIGHT:
        target = TARGET_FIXED + TARGET_SHARE * median(off)
    elif condition == OPS:
        # A promise about training steps: a cell that does nothing has nothing to share the fixed cost.
        target = TARGET_OPS if times.workload.adjustable else None
    processor = _pairs(times.processor[side, beside], times.processor[side, condition])
    return Row(times.framework, times.workload.name, condition, beside, _pairs(off, on), processor, target)


def _pairs(off: Sequence[float], on: Sequence[float]) -> tuple[Pair, ...]:
    # A kernel that fell out in the middle of a round has a time more of one than of the other.
    return tuple(Pair(before, after) for before, after in zip(off, on, strict=False))


def verdicts(measured: Sequence[Times]) -> Iterator[report.Verdict]:
    """All that were reached."""
    for times in measured:
        for row in rows(times):
            if row.verdict is not None:
                yield row.verdict


def _order(row: Row) -> int:
    first = (LIGHT, PROFILER, OPS)
    return first.index(row.condition) if row.condition in first else len(first)
