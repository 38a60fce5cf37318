"""Judge how many times as fast one function is as another, by rounds in which both are timed in turns.

In a round, each function gets the same few arguments, which were never used before, and its shortest time
counts. What else the machine does only adds to a time, so the shortest is the least disturbed. Rounds are
repeated until the interval of the ratio (`ratio_interval`) is on one side of what is asked, at most
`MOST_ROUNDS` times.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.explain.comparing.expect import State
from jupyter_mlgpu.explain.statistics import Estimate, ratio_interval
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.lessons.differences import compare
from jupyter_mlgpu.teach.lessons.values import read

#: Calls of each function in a round.
CALLS = 3
#: Rounds before the first judgement, and the most rounds. Four are the fewest that `ratio_interval` takes.
FEWEST_ROUNDS, MOST_ROUNDS = 5, 15
#: The part of the asked ratio that is enough.
MARGIN = 0.9
#: The difference of two results that counts as rounding, relative to a number: float32 is precise enough.
_TOLERANCE = 1e-5

#: The shortest seconds of the fast and of the slow function in one round.
Round = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times as fast a function is, with a 95 % interval, and if that is as much as was asked."""

    state: State
    ratio: Estimate
    rounds: int

    @property
    def times(self) -> float:
        """The ratio in the middle."""
        return self.ratio.value

    @property
    def enough(self) -> bool:
        """True unless it is certain that the ratio is below what was asked."""
        return self.state != "does not hold"

    @property
    def sentence(self) -> Sentence:
        """The ratio and its interval in words."""
        return say(
            "{ratio} times as fast in {rounds} rounds, 95 % interval {low} to {high}.",
            ratio=f"{self.ratio.value:.3g}",
            rounds=self.rounds,
            low=f"{self.ratio.low:.3g}",
            high=f"{self.ratio.high:.3g}",
        )


def judge(rounds: Iterable[Round], least: float) -> Speedup:
    """Take rounds until it is certain whether the ratio is `least` times `MARGIN`, or until none is left.

    Raises ValueError if there are fewer than `FEWEST_ROUNDS`.
    """
    wanted = MARGIN * least
    fast: list[float] = []
    slow: list[float] = []
    found = None
    for quick, long in rounds:
        fast.append(quick)
        slow.append(long)
        if len(fast) < FEWEST_ROUNDS:
            continue
        found = ratio_interval(fast, slow)
        if found is not None and not found.low < wanted <= found.high:
            break
    if found is None:
        raise ValueError(f"A judgement needs at least {FEWEST_ROUNDS} rounds, found {len(fast)}.")
    state: State = (
        "holds" if found.low >= wanted else "does not hold" if found.high < wanted else "cannot judge"
    )
    return Speedup(state, found, len(fast))


def timed_rounds(
    fast: Callable[..., Any],
    slow: Callable[..., Any],
    fresh: Callable[[int], tuple[Any, ...]],
    paused: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[Round]:
    """Yield the times of rounds, after one that does not count.

    `fresh` makes the arguments from a number that nobody can foretell. `paused` holds what could disturb the
    slow function. Raises AssertionError if the two functions have different results.
    """
    for number in range(MOST_ROUNDS + 1):
        seeds = [secrets.randbits(32) for _ in range(CALLS)]
        with paused():
            slow_calls = [_timed(slow, fresh(seed)) for seed in seeds]
        fast_calls = [_timed(fast, fresh(seed)) for seed in seeds]
        for (found, _), (expected, _) in zip(fast_calls, slow_calls, strict=True):
            if not _same(found, expected):
                why = say("Expected what the slow function gives for new data, too: be right before fast.")
                raise AssertionError(translate(why))
        if number:
            yield min(seconds for _, seconds in fast_calls), min(seconds for _, seconds in slow_calls)


def _timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, float]:
    start = real_time.perf_counter()
    result = function(*arguments)
    return result, real_time.perf_counter() - start


def _same(found: Any, expected: Any) -> bool:
    right = read(expected)
    return bool(compare(read(found, like=right), right, _TOLERANCE, {}).same)
