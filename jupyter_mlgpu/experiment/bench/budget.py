"""The limits on how long a case may take, and how often it is repeated."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a case: `repeats` samples, each of as many steps as take `sample_s` seconds.

    Warm-up takes at most `warm_up_s`. After `seconds` of repeats no further one begins, if there are
    `fewest`: three, the fewest that show a spread. A case with a step that takes longer than `longest_step_s`
    is left out.
    """

    repeats: int = 10
    sample_s: float = 0.2
    warm_up_s: float = 10.0
    seconds: float = 30.0
    fewest: int = 3
    longest_step_s: float = 20.0


#: Nine repeats: the fewest that give a 95 % interval without the slowest and the fastest
#: (`statistics.median_interval`), so that one disturbance does not widen it.
QUICK = Budget(repeats=9, sample_s=0.08, warm_up_s=0.8, seconds=1.5, longest_step_s=1.5)
#: Samples of a model last long enough together for NVML's energy counter, which moves ten times a second.
QUICK_MODEL = Budget(repeats=9, sample_s=0.2, warm_up_s=2.0, seconds=2.5, longest_step_s=1.5)
FULL = Budget()


def of_a_burn(seconds: float) -> Budget:
    """Return the budget of a burn of so many seconds.

    There are about 180 samples, but none is shorter than half a second (NVML averages power over a second) or
    longer than 10 s, for which an interrupt may have to wait.
    """
    sample_s = min(max(0.5, seconds / 180), 10.0)
    return replace(FULL, repeats=sys.maxsize, sample_s=sample_s, seconds=seconds, fewest=1)
