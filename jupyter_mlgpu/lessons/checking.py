"""Judging an answer: what a learner's answer gives, beside what it should give.

An answer is tried on one telling example and on inputs drawn afresh each time, so an answer that only
knows the example is found out. Nothing here raises for a wrong answer: a `Verdict` says what is
missing, and gives the cells below something that works.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, Literal

#: How many sets of fresh inputs a right answer has stood.
FRESH = 3

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Numbers:
    """A tensor without its framework: its shape, and its numbers row after row."""

    shape: tuple[int, ...]
    values: tuple[float, ...]


Inputs = Mapping[str, Numbers]


@dataclass(frozen=True)
class Exercise:
    """One blank of a lesson. `task` ends the sentence "What is asked for: …".

    `example` is chosen so that its result shows a mistake at a glance; `fresh` draws other inputs.
    `run` gives what an answer makes of inputs, None while the answer is left open.
    """

    name: str
    task: str
    reference: Answer
    example: Inputs
    fresh: Callable[[random.Random], Inputs]
    run: Callable[[Answer, Inputs], Numbers | None]


@dataclass(frozen=True)
class Verdict:
    """How an answer did; `answer` is what the cells below use: the learner's, or the reference."""

    state: Literal["right", "open", "wrong"]
    sentences: tuple[str, ...]
    table: tuple[tuple[str, ...], ...]
    answer: Answer

    def __repr__(self) -> str:
        return "\n".join([self._title(), *self.sentences, *_aligned(self.table)])

    def _repr_html_(self) -> str:
        lines = "".join(f"<div>{escape(sentence)}</div>" for sentence in self.sentences)
        head, *rows = [[escape(cell) for cell in row] for row in self.table] or [[]]
        table = "".join(f"<tr><td>{'<td>'.join(row)}</tr>" for row in rows)
        shown = f"<table><tr><th>{'<th>'.join(head)}</tr>{table}</table>" if rows else ""
        return f"<div><b>{escape(self._title())}</b>{lines}</div>{shown}"

    def _title(self) -> str:
        return {"right": "✓ Right.", "open": "○ Still open.", "wrong": "✗ Not yet."}[self.state]


def judge(exercise: Exercise, answer: Answer) -> Verdict:
    """Try an answer to `exercise` on its example and on fresh inputs, up to the first that is not right."""
    draw = random.Random()
    for inputs in [exercise.example, *(exercise.fresh(draw) for _ in range(FRESH))]:
        wanted = exercise.run(exercise.reference, inputs)
        assert wanted is not None, f"the reference answer of {exercise.name} is open"
        try:
            got = exercise.run(answer, inputs)
        except Exception as error:
            text = next(iter(str(error).strip().splitlines()), "")
            stopped = f"{exercise.name} stopped with {type(error).__name__}: {text}"
            return _not_right("wrong", exercise, stopped, _table(inputs, wanted))
        if got is None:
            table = _table(inputs, wanted, yours=["?"] * len(wanted.values))
            return _not_right("open", exercise, f"{exercise.name} gives nothing back so far.", table)
        if got.shape != wanted.shape:
            shapes = f"{exercise.name} gives shape {list(got.shape)}; it should be {list(wanted.shape)}."
            return _not_right("wrong", exercise, shapes, _table(inputs, wanted))
        if not all(map(_close, got.values, wanted.values)):
            differ = f"{exercise.name} gives other numbers than it should."
            return _not_right("wrong", exercise, differ, _compared(inputs, wanted, got))
    right = f"{exercise.name} gives what it should, also on {FRESH} sets of fresh numbers."
    return Verdict("right", (right, "The cells below use your answer."), (), answer)


def _not_right(
    state: Literal["open", "wrong"], exercise: Exercise, what: str, table: tuple[tuple[str, ...], ...]
) -> Verdict:
    sentences = (
        what,
        f"What is asked for: {exercise.task}.",
        "Until it is right, the cells below use the reference answer.",
    )
    return Verdict(state, sentences, table, exercise.reference)


def _compared(inputs: Inputs, wanted: Numbers, got: Numbers) -> tuple[tuple[str, ...], ...]:
    off = [mine - right for mine, right in zip(got.values, wanted.values, strict=True)]
    longest = max((abs(one) for one in off if math.isfinite(one)), default=0) or 1
    bars = ["█" * math.ceil(8 * abs(one) / longest) if math.isfinite(one) else "" for one in off]
    differences = [f"{one:+.6g} {bar}".rstrip() for one, bar in zip(off, bars, strict=True)]
    return _table(inputs, wanted, yours=[f"{one:.6g}" for one in got.values], differences=differences)


def _table(
    inputs: Inputs, wanted: Numbers, *, yours: Sequence[str] = (), differences: Sequence[str] = ()
) -> tuple[tuple[str, ...], ...]:
    columns = {name: [f"{value:.6g}" for value in one.values] for name, one in inputs.items()}
    if yours:
        columns["yours"] = list(yours)
    columns["should be"] = [f"{value:.6g}" for value in wanted.values]
    if differences:
        columns["difference"] = list(differences)
    return (tuple(columns), *zip(*columns.values(), strict=True))


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in table]


def _close(one: float, other: float) -> bool:
    # float32 keeps about seven digits; a not-a-number is close to nothing.
    return math.isclose(one, other, rel_tol=1e-5, abs_tol=1e-6)
