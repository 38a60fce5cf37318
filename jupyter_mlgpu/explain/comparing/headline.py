"""Write the first sentence of a comparison: the ratio of the times and its confidence."""

from __future__ import annotations

from jupyter_mlgpu.explain.comparing.compare import SAME, Change, Pair
from jupyter_mlgpu.record.sentence import Sentence, say


def headline(pair: Pair, first: str, second: str) -> Sentence:
    """Return a sentence on which of two sides took how many times as long, with the number of runs."""
    timing = pair.timing
    times = timing.times if timing is not None else None
    if timing is None or times is None:
        return say("The times of {first} and {second} cannot be compared.", first=first, second=second)
    runs = _runs(timing)
    found = timing.ratio
    figure = ratio(max(times, 1 / times))
    if figure == "1" or (found is not None and found.low >= 1 - SAME and found.high <= 1 + SAME):
        sentence = say("{first} and {second} took equally long", first=first, second=second)
    else:
        slow, quick = (second, first) if times > 1 else (first, second)
        sentence = say("{slow} took {times} times as long as {quick}", slow=slow, times=figure, quick=quick)
    if found is None:
        return say("{what}; {runs}, so this is approximate.", what=sentence, runs=runs)
    if found.low <= 1 <= found.high and figure != "1":
        return say("{what}; {runs}, so this may be chance.", what=sentence, runs=runs)
    if figure == "1":
        return say("{what}; {runs}.", what=sentence, runs=runs)
    low, high = (found.low, found.high) if times > 1 else (1 / found.high, 1 / found.low)
    span = say("{low} to {high}", low=ratio(low), high=ratio(high))
    return say("{what} ({span} times); {runs}.", what=sentence, runs=runs, span=span)


def ratio(value: float) -> str:
    """Return a ratio with three digits, or with all digits before the decimal point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _runs(timing: Change) -> Sentence:
    one, other = len(timing.first.values), len(timing.second.values)
    if one == other == 1:
        return say("one run each")
    return say("{first} and {second} runs", first=str(one), second=str(other))
