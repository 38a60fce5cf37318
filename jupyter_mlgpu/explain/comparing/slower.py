"""Judge if a cell has become slower. It is reported only if the rule of `compare` shows it.

The fewest newest runs that can be judged are compared with all earlier ones: one with 39, two with 8, three
with 5. So a slow cell is reported only until the earlier runs are slow, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_mlgpu.explain.comparing.compare import MOST
from jupyter_mlgpu.explain.statistics import median, ratio_interval
from jupyter_mlgpu.record.record import Record

#: The least number of runs that can be judged: three and five.
FEWEST = 8
#: Seconds below which nobody notices that a cell became slower.
UNNOTICED_S = 0.01
#: The least ratio, at the low end of the interval, that is worth reporting.
WORTH = 1.1


@dataclass(frozen=True, slots=True)
class Slower:
    """Wall times in seconds of the newest runs, and of those before them."""

    newest: tuple[float, ...]
    before: tuple[float, ...]

    @property
    def now(self) -> float:
        """The median wall time of the newest runs."""
        return median(self.newest)

    @property
    def was(self) -> float:
        """The median wall time of the earlier runs."""
        return median(self.before)


def became_slower(earlier: Sequence[Record], newest: Record) -> Slower | None:
    """Return the wall times if the cell became slower, else None.

    `earlier` are the runs of the same code in the same kernel, oldest first. Successful light runs count, as
    in a comparison, if they were measured in the same way.
    """
    if newest.mode != "light" or newest.outcome != "ok" or len(earlier) + 1 < FEWEST:
        return None
    if (newest.reading("wall_time").value or 0.0) < UNNOTICED_S:
        return None
    light = [one for one in (*earlier, newest) if one.mode == "light" and one.outcome == "ok"]
    same_way = [one for one in light if one.asynchronous == newest.asynchronous][-MOST:]
    walls = [wall for one in same_way if (wall := one.reading("wall_time").value)]
    for count in (1, 2, 3):
        before, new = walls[:-count], walls[-count:]
        ratio = ratio_interval(before, new) if before else None
        if ratio is not None:
            return Slower(tuple(new), tuple(before)) if ratio.low >= WORTH else None
    return None
