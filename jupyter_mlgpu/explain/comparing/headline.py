"""Write the first sentence of a comparison: the ratio of the times, as in its table, and its confidence."""

from __future__ import annotations

from jupyter_mlgpu.explain.comparing.compare import SAME, Change, Pair
from jupyter_mlgpu.record.sentence import Sentence, say


def headline(pair: Pair, first: str, second: str) -> Sentence:
    """Return a sentence on how many times as long the second side took, with the number of runs."""
    timing = pair.timing
    if timing is None or timing.times is None:
        return say("The times of {first} and {second} cannot be compared.", first=first, second=second)
    sides = {"first": first, "second": second}
    runs, times = _runs(timing), ratio(timing.times)
    what = say("{second} took {times} times as long as {first}", **sides, times=times)
    if timing.finding == "same" or times == "1":
        what = say("{first} and {second} took the same time", **sides)
    if timing.ratio is None:
        return say("{what}; {runs}, so this is approximate.", what=what, runs=runs)
    span = say("{low} to {high}", low=ratio(timing.ratio.low), high=ratio(timing.ratio.high))
    if timing.finding == "unclear":
        unclear = say("It is unclear if {second} took longer than {first}", **sides)
        return say("{what} ({span} times as long); {runs}.", what=unclear, span=span, runs=runs)
    if timing.finding == "same":
        return say("{what}; {runs}.", what=what, runs=runs)
    return say("{what} ({span} times); {runs}.", what=what, runs=runs, span=span)


def ratio(value: float) -> str:
    """Return a ratio with three digits, near 1 with three decimals, or with all digits before the point."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{round(value, 3):g}" if abs(value - 1) < SAME else f"{value:.3g}"


def _runs(timing: Change) -> Sentence:
    one, other = len(timing.first.values), len(timing.second.values)
    if one == other == 1:
        return say("one run each")
    return say("{first} and {second} runs", first=str(one), second=str(other))
