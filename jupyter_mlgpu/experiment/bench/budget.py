"""How long a case may take, and how often it is repeated."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """`repeats` samples, each of as many steps as take `sample_s` seconds; warm-up at most `warm_up_s`.

    After `seconds` of repeats no further one begins once there are `fewest`: three, as few as show a spread.
    A case of which one step takes longer than `longest_step_s` is left out.
    """

    repeats: int = 10
    sample_s: float = 0.2
    warm_up_s: float = 10.0
    seconds: float = 30.0
    fewest: int = 3
    longest_step_s: float = 20.0


#: Nine repeats: as few as give a 95 % interval from which the slowest and the fastest are left out
#: (`statistics.median_interval`), so that one disturbance does not make it wide.
QUICK = Budget(repeats=9, sample_s=0.08, warm_up_s=0.8, seconds=1.5, longest_step_s=1.5)
FULL = Budget()
