"""What helps a learner on: mistakes that are recognised by name, and hints that come one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

#: As many hints an exercise has; the last nearly says it.
STEPS = 3


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, and what is said to whoever gives the same results as it does."""

    named: Sentence
    answer: Callable[..., Any]


@dataclass(frozen=True)
class Coaching:
    """An exercise's help: `hints` from the first push to the last, and its mistakes."""

    hints: tuple[Sentence, ...]
    mistakes: tuple[Mistake, ...]

    def hint(self, attempt: int) -> Sentence:
        """What is said at this attempt, counted from 1: one hint more each time, the last one again."""
        step = min(attempt, len(self.hints))
        return say(
            "Hint {step} of {steps}: {hint}", step=step, steps=len(self.hints), hint=self.hints[step - 1]
        )


def coaching(hints: Sequence[Sentence], mistakes: Sequence[tuple[Sentence, Callable[..., Any]]]) -> Coaching:
    """The help of one exercise, written down in pairs: what is said, and the answer it is said of."""
    return Coaching(tuple(hints), tuple(Mistake(*one) for one in mistakes))
