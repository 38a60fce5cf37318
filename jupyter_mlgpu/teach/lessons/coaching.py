"""Help for learners: likely mistakes, recognised by name, and hints that become more detailed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.record.sentence import Sentence, say

#: Number of hints of an exercise. The last one nearly gives the answer.
STEPS = 3


@dataclass(frozen=True)
class Mistake:
    """A likely wrong answer, and the sentence shown to a learner whose answer gives the same results."""

    named: Sentence
    answer: Callable[..., Any]


@dataclass(frozen=True)
class Coaching:
    """The hints of an exercise, from the vaguest to the clearest, and its likely mistakes."""

    hints: tuple[Sentence, ...]
    mistakes: tuple[Mistake, ...]

    def hint(self, attempt: int) -> Sentence:
        """Return the hint for an attempt, counted from 1; after the last hint, it is repeated."""
        step = min(attempt, len(self.hints))
        return say(
            "Hint {step} of {steps}: {hint}", step=step, steps=len(self.hints), hint=self.hints[step - 1]
        )


def coaching(hints: Sequence[Sentence], mistakes: Sequence[tuple[Sentence, Callable[..., Any]]]) -> Coaching:
    """Return the help of one exercise; each mistake is a sentence and the wrong answer it describes."""
    return Coaching(tuple(hints), tuple(Mistake(*one) for one in mistakes))
