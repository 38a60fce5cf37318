"""Judge how many times as fast one function is as another, from calls of both in turns.

What else a machine does can only add to a time, so the shortest of many calls is compared. The slow function
runs for many slices of a busy processor, and a fast one often within one. Their times on the clock would make a
busy machine's answers look faster than they are, so the time in which the slow function waited for a processor
does not count. The intervals of `ratio_interval` do not hold here, because they are for samples that differ
only by a factor. `tests/teach/test_lab_speedups.py` replays calls that were recorded on a busy machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.explain.comparing.expect import State
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.teach.lessons.differences import compare
from jupyter_mlgpu.teach.lessons.values import read

#: Calls of each function in a round. While the slow one is called, what the student left running is paused.
CALLS = 3
#: Rounds before the first judgement, and the most rounds.
FEWEST_ROUNDS, MOST_ROUNDS = 5, 15
#: Parts of the ratio that is asked. From the first one on it holds, and below the second one it does not hold.
#: Between them it cannot be judged. Below the third one, no more rounds are tried.
ENOUGH, TOO_LITTLE, HOPELESS = 0.9, 0.7, 0.3
#: The difference of two results that counts as rounding, relative to a number: float32 is precise enough.
_TOLERANCE = 1e-5

#: The shortest seconds of the fast and of the slow function in one round.
Round = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Speedup:
    """The shortest seconds of a fast and of a slow function, and if their ratio is what was asked."""

    state: State
    fast: float
    slow: float
    rounds: int

    @property
    def times(self) -> float:
        """How many times as fast the one is."""
        return self.slow / self.fast

    @property
    def enough(self) -> bool:
        """True unless the ratio is certainly below what was asked."""
        return self.state != "does not hold"

    @property
    def sentence(self) -> Sentence:
        """The ratio and both times in words."""
        return say(
            "{times} times as fast: {fast} versus {slow}, the shortest of {calls} calls each.",
            times=f"{self.times:.3g}",
            fast=units.seconds(self.fast),
            slow=units.seconds(self.slow),
            calls=self.rounds * CALLS,
        )


def judge(rounds: Iterable[Round], least: float) -> Speedup:
    """Take rounds until the ratio is enough or hopeless, but a few at least, and judge it against `least`."""
    fast = slow = float("inf")
    number = 0
    for number, (quick, long) in enumerate(rounds, start=1):
        fast, slow = min(fast, quick), min(slow, long)
        if number >= FEWEST_ROUNDS and not HOPELESS * least <= slow / fast < ENOUGH * least:
            break
    if number < FEWEST_ROUNDS:
        raise ValueError(f"A judgement needs at least {FEWEST_ROUNDS} rounds, found {number}.")
    state: State = "cannot judge"
    if slow / fast >= ENOUGH * least:
        state = "holds"
    elif slow / fast < TOO_LITTLE * least:
        state = "does not hold"
    return Speedup(state, fast, slow, number)


def timed_rounds(
    fast: Callable[..., Any],
    slow: Callable[..., Any],
    fresh: Callable[[int], tuple[Any, ...]],
    paused: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[Round]:
    """Yield the times of rounds, after one that does not count.

    `fresh` makes the arguments from a number that nobody can foretell. `slow` has to compute all the time, and
    not to wait. `paused` holds what could disturb it. Raises AssertionError if the two functions have different
    results.
    """
    for number in range(MOST_ROUNDS + 1):
        seeds = [secrets.randbits(32) for _ in range(CALLS)]
        with paused():
            slow_calls = [_timed(slow, fresh(seed)) for seed in seeds]
        fast_calls = [_timed(fast, fresh(seed)) for seed in seeds]
        for one, other in zip(fast_calls, slow_calls, strict=True):
            if not _same(one.result, other.result):
                why = say("Expected what the slow function gives for new data, too: be right before fast.")
                raise AssertionError(translate(why))
        if number:
            # A function in a sandbox computes in another process, of which only the clock tells.
            yield (
                min(one.seconds for one in fast_calls),
                min(min(one.seconds, one.computing) for one in slow_calls),
            )


@dataclass(frozen=True, slots=True)
class _Call:
    """The result of a call, its seconds, and those of all processors that this process used meanwhile."""

    result: Any
    seconds: float
    computing: float


def _timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> _Call:
    computed, start = real_time.process_time(), real_time.perf_counter()
    result = function(*arguments)
    seconds, computing = real_time.perf_counter() - start, real_time.process_time() - computed
    return _Call(result, seconds, computing)


def _same(found: Any, expected: Any) -> bool:
    right = read(expected)
    return bool(compare(read(found, like=right), right, _TOLERANCE, {}).same)
