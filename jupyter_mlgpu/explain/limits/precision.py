"""A share of the time, told no more exactly than its looks can know it: 25 looks know tenths."""

from __future__ import annotations

from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.sentence import say

#: What a share is rounded to, in per cent: the finest that is no finer than half of its 95 % interval.
_STEPS = (1, 5, 10)

#: For a share that rounds to all of the time: looks between which something else was are no proof of all.
NEARLY_ALL = say("nearly all")


def told_share(share: float, samples: int | None) -> str:
    """`86 %`, `about 90 %` or `nearly all`; without looks it was measured, and is told as it is."""
    if not samples:
        return units.percent(share)
    low, high = share_interval(share * samples, samples)
    step = next((one for one in _STEPS if one >= 50 * (high - low)), _STEPS[-1])
    rounded = int(share * 100 / step + 0.5) * step  # halves upwards, as the browser rounds
    if rounded >= 100:
        return NEARLY_ALL
    if step == 1 or rounded == 0:
        return units.percent(share)
    return say("about {share}", share=units.percent(rounded / 100))


def samples_of(limit: Limit) -> int | None:
    """How many looks its share rests on; None where it was measured otherwise, or is not said."""
    return next((one.samples for one in limit.evidence if one.quantity == "samples_share"), None)
