"""Whether times rise over the repeats, as they do on a device that grows hot and lowers its clock.

Mann and Kendall's test says how often chance alone would bring so many pairs in rising order. The rise is
Theil and Sen's slope times the length, as a part of where the line begins: the median of what the slope
leaves of each sample.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.statistics import mann_kendall, median, theil_sen

#: A rise counts if chance brings so many pairs in order in at most this share of cases,
CHANCE = 0.01
#: and if the times rise by at least this part: less is no throttling that matters.
WORTH = 0.03


def rise(samples: Sequence[float]) -> float | None:
    """By what part of the first time the times rise from the first to the last; None where they do not."""
    count = len(samples)
    if mann_kendall(samples) > CHANCE:
        return None
    slope = theil_sen(range(count), samples)
    start = median([samples[i] - slope * i for i in range(count)])
    if start <= 0:
        return None
    found = slope * (count - 1) / start
    return found if found >= WORTH else None
