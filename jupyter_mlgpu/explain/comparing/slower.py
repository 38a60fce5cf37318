"""Whether a cell has become slower than it was: told where the rule of `compare` shows it, else not at all.

The fewest newest runs that can be judged stand against all those before them: one against 39, two against 8,
three against 5. So what is slow stays told of only until the runs before are slow, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.explain.comparing.compare import MOST
from jupyter_mlgpu.explain.statistics import median, ratio_interval
from jupyter_mlgpu.record.record import Record

#: Runs with which it can be judged at all: three and five.
FEWEST = 8
#: As many times as long is worth a sentence: the interval begins there.
WORTH = 1.1


@dataclass(frozen=True, slots=True)
class Slower:
    """Wall times in seconds: of the newest runs, and of those before them."""

    newest: tuple[float, ...]
    before: tuple[float, ...]

    @property
    def now(self) -> float:
        """What it takes now, the median of the newest."""
        return median(self.newest)

    @property
    def was(self) -> float:
        """What it took, the median of those before."""
        return median(self.before)


def became_slower(earlier: Sequence[Record], newest: Record) -> Slower | None:
    """How much, where it did; `earlier` are the runs of the same code in the same kernel, oldest first.

    Light runs that ended well count, as in a comparison, where they were measured in the same way.
    """
    if newest.mode != "light" or newest.outcome != "ok" or len(earlier) + 1 < FEWEST:
        return None
    light = [one for one in (*earlier, newest) if one.mode == "light" and one.outcome == "ok"]
    counted = [one for one in light if one.asynchronous == newest.asynchronous][-MOST:]
    walls = [wall for one in counted if (wall := one.reading("wall_time").value)]
    for count in (1, 2, 3):
        before, new = walls[:-count], walls[-count:]
        ratio = ratio_interval(before, new) if before else None
        if ratio is not None:
            return Slower(tuple(new), tuple(before)) if ratio.low >= WORTH else None
    return None
