"""Judge how many times as fast one function is as another, from calls of both in turns.

What else a machine does can only add to a time, so the shortest of many calls is compared. But a slow
function needs many time slices of a busy processor, and a fast one often a single one, so a busy machine
lengthens the times of the slow one more. Therefore, the ratio has two bounds: the lower one takes the
processor's seconds of the slow function, the upper one those of the clock. On a quiet machine they are the
same. The intervals of `ratio_interval` do not hold here, because they are for samples that differ only by a
factor. `tests/teach/test_lab_speedups.py` replays calls that were recorded on a busy machine.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from jupyter_mlgpu.explain.comparing.expect import State
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.teach.lessons.differences import compare
from jupyter_mlgpu.teach.lessons.values import read

#: Calls of each function in a round. While the slow one is called, what the student left running is paused.
CALLS = 3
#: Rounds before the first judgement, and the most rounds.
FEWEST_ROUNDS, MOST_ROUNDS = 5, 15
#: Parts of the ratio that is asked. It holds if the lower bound reaches the first one, and does not hold if
#: the upper bound is below the second one. If it is below the third one, no more rounds are tried.
ENOUGH, TOO_LITTLE, HOPELESS = 0.9, 0.7, 0.3
#: The difference of two results that counts as rounding, relative to a number: float32 is precise enough.
_TOLERANCE = 1e-5


class Round(NamedTuple):
    """The shortest seconds of a few calls: the fast function's, and the slow one's by processor and clock."""

    fast: float
    computing: float
    slow: float


@dataclass(frozen=True, slots=True)
class Speedup:
    """The shortest seconds of all rounds, and if their ratio is what was asked."""

    state: State
    shortest: Round
    rounds: int

    @property
    def times(self) -> float:
        """How many times as fast the function is at least."""
        return self.shortest.computing / self.shortest.fast

    @property
    def most(self) -> float:
        """How many times as fast it is at most; the same on a machine that does nothing else."""
        return self.shortest.slow / self.shortest.fast

    @property
    def enough(self) -> bool:
        """True unless the ratio is certainly below what was asked."""
        return self.state != "does not hold"

    @property
    def sentence(self) -> Sentence:
        """The ratio and both times in words."""
        found = say(
            "{times} times as fast: {fast} versus {slow}, the shortest of {calls} calls each.",
            times=f"{self.times:.3g}",
            fast=units.seconds(self.shortest.fast),
            slow=units.seconds(self.shortest.computing),
            calls=self.rounds * CALLS,
        )
        if self.state != "cannot judge":
            return found
        open_ = say(
            "It is at most {most} times: too close to what is asked to be judged. Try again when the machine "
            "has less to do.",
            most=f"{self.most:.3g}",
        )
        return joined(found, open_)


def judge(rounds: Iterable[Round], least: float) -> Speedup:
    """Take rounds until the ratio is enough or hopeless, but a few at least, and judge it against `least`."""
    taken: list[Round] = []
    for one in rounds:
        taken.append(one)
        found = Speedup("cannot judge", Round(*map(min, zip(*taken, strict=True))), len(taken))
        if len(taken) >= FEWEST_ROUNDS and (found.times >= ENOUGH * least or found.most < HOPELESS * least):
            break
    if len(taken) < FEWEST_ROUNDS:
        raise ValueError(f"A judgement needs at least {FEWEST_ROUNDS} rounds, found {len(taken)}.")
    if found.times >= ENOUGH * least:
        return replace(found, state="holds")
    return replace(found, state="does not hold") if found.most < TOO_LITTLE * least else found


def timed_rounds(
    fast: Callable[..., Any],
    slow: Callable[..., Any],
    fresh: Callable[[int], tuple[Any, ...]],
    paused: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[Round]:
    """Yield the times of rounds, after one that does not count.

    `fresh` makes the arguments from a number that nobody can foretell. `slow` may not wait for anything. What
    could disturb it is paused by `paused` meanwhile. Raises AssertionError if the results differ.
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
            yield Round(
                min(one.seconds for one in fast_calls),
                min(one.computing for one in slow_calls),
                min(one.seconds for one in slow_calls),
            )


@dataclass(frozen=True, slots=True)
class _Call:
    """The result of a call, its seconds by the clock, and those of this process on one processor."""

    result: Any
    seconds: float
    computing: float


def _timed(function: Callable[..., Any], arguments: tuple[Any, ...]) -> _Call:
    computed, start = real_time.process_time(), real_time.perf_counter()
    result = function(*arguments)
    seconds, computing = real_time.perf_counter() - start, real_time.process_time() - computed
    # Several threads may compute longer than the clock says.
    return _Call(result, seconds, min(computing, seconds))


def _same(found: Any, expected: Any) -> bool:
    right = read(expected)
    return bool(compare(read(found, like=right), right, _TOLERANCE, {}).same)
