"""Judge a burn: did the throughput last, or did it fall, by how much and when.

The samples are split into two stretches such that each is best described by its mean (least squares). It is a
fall if the second stretch is slower in the Mann-Whitney test, and by enough to matter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from jupyter_mlgpu.experiment.bench.judging import RISE_BY_CHANCE, SMALLEST_RISE
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.explain.statistics import mann_whitney, median

#: The fewest samples of a stretch, and the fewest of a burn: fewer cannot show a fall at `RISE_BY_CHANCE`,
#: because the probability is multiplied by the number of possible splits.
FEWEST, FEWEST_OF_A_BURN = 3, 12
#: Most groups of samples that are compared, because the test's time grows fast with their number.
GROUPS = 60


@dataclass(frozen=True, slots=True)
class Fall:
    """A lasting fall: FLOP/s `before` and `after`, at `at` seconds after the burn's begin.

    `index` is that of the first sample after it.
    """

    before: float
    after: float
    at: float
    index: int

    @property
    def share(self) -> float:
        """The part of the throughput that was lost, 0 to 1."""
        return 1 - self.after / self.before


def rates(result: CaseResult) -> list[float]:
    """Return the FLOP/s of each sample."""
    return [(result.flops or 0.0) / seconds for seconds in result.samples]


def groups(count: int, most: int) -> list[slice]:
    """Return at most `most` slices of `count` samples in order, equally long but for the last."""
    size = -(-count // most) or 1
    return [slice(start, start + size) for start in range(0, count, size)]


def is_too_short(result: CaseResult) -> bool:
    """Return True if there are too few samples to see a fall."""
    return len(result.samples) < FEWEST_OF_A_BURN


def fall(result: CaseResult) -> Fall | None:
    """Return the lasting fall of a burn's throughput, None if there is none."""
    if result.burn is None or is_too_short(result):
        return None
    each = rates(result)
    slices = groups(len(each), GROUPS)
    grouped = [median(each[one]) for one in slices]
    split = _split(grouped)
    first, second = grouped[:split], grouped[split:]
    # The best of all splits was chosen, so each of them could have shown a fall by chance.
    by_chance = mann_whitney(first, second) * (len(grouped) - 2 * FEWEST + 1)
    index = slices[split].start
    found = Fall(median(each[:index]), median(each[index:]), result.burn.ended[index - 1], index)
    return found if by_chance <= RISE_BY_CHANCE and found.share >= SMALLEST_RISE else None


def _split(values: Sequence[float]) -> int:
    """Return where the second stretch begins: there the squared deviations from both means are least."""
    sums = [0.0, *accumulate(values)]

    def explained(place: int) -> float:
        return sums[place] ** 2 / place + (sums[-1] - sums[place]) ** 2 / (len(values) - place)

    return max(range(FEWEST, len(values) - FEWEST + 1), key=explained)
