"""Round a share of the time to what its number of samples justifies: 25 samples justify tenths."""

from __future__ import annotations

from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.sentence import say

#: Steps for rounding, in per cent. The finest one that is at least half of the 95 % interval is used.
_STEPS = (1, 5, 10)

#: Samples that a `sure` answer needs.
FEWEST_FOR_SURE = 12

#: For a share that rounds to all of the time: something else may have happened between two samples.
NEARLY_ALL = say("nearly all")


def rounded_share(share: float, samples: int | None, *, certain: bool = True) -> str:
    """Return `86 %`, `about 90 %` or `nearly all`; without samples the share is exact and not rounded.

    If the answer is not `certain`, its share is always `about`.
    """
    rounded, step = _rounded(share, samples)
    if samples and rounded >= 100:
        return NEARLY_ALL
    figure = units.percent(share if step == 1 or rounded == 0 else rounded / 100)
    return figure if certain and (step == 1 or rounded == 0) else say("about {share}", share=figure)


def coarse_share(share: float, samples: int | None) -> str:
    """Return a rounded share without `about`: the sentence around it says that it is not exact."""
    rounded, step = _rounded(share, samples)
    return units.percent(share if step == 1 else rounded / 100)


def _rounded(share: float, samples: int | None) -> tuple[int, int]:
    """Return a share in per cent, rounded to a step, and the step."""
    step = _STEPS[0]
    if samples:
        low, high = share_interval(share * samples, samples)
        step = next((one for one in _STEPS if one >= 50 * (high - low)), _STEPS[-1])
    return int(share * 100 / step + 0.5) * step, step  # halves upwards, as the browser rounds


def samples_of(limit: Limit) -> int | None:
    """Return the number of samples behind the limit's share, or None if it was measured otherwise."""
    return next((one.samples for one in limit.evidence if one.quantity == "samples_share"), None)
