"""Round a share of the time to what its number of samples justifies: 25 samples justify tenths."""

from __future__ import annotations

from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.sentence import say

#: Steps for rounding, in per cent. The finest one that is at least half of the 95 % interval is used.
_STEPS = (1, 5, 10)

#: For a share that rounds to all of the time: something else may have happened between two samples.
NEARLY_ALL = say("nearly all")


def rounded_share(share: float, samples: int | None) -> str:
    """Return `86 %`, `about 90 %` or `nearly all`; without samples the share is exact and not rounded."""
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
    """Return the number of samples behind the limit's share, or None if it was measured otherwise."""
    return next((one.samples for one in limit.evidence if one.quantity == "samples_share"), None)
