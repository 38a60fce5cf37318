"""Lesson 10: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def _cut(word: Any, pieces: Any, choose: Any, mark: Any = "##") -> Any:
    found, start = [], 0
    while start < len(word):
        here = mark if start else ""
        fits = [end for end in range(start + 1, len(word) + 1) if here + word[start:end] in pieces]
        end = choose(fits)
        found.append(here + word[start:end])
        start = end
    return found


def _against(counts: Any, by_chance: Any) -> Any:
    ratio = counts / counts.sum() / np.maximum(by_chance, 1e-12)
    return np.log(np.maximum(ratio, 1))


def _shares(counts: Any) -> Any:
    return counts.sum(axis=1) / counts.sum()


def shortest(word: Any, pieces: Any) -> Any:
    return _cut(word, pieces, min)


def without_marks(word: Any, pieces: Any) -> Any:
    return _cut(word, pieces, max, mark="")


def row_alone(counts: Any) -> Any:
    return _against(counts, _shares(counts)[:, None])


def squared(counts: Any) -> Any:
    return _against(counts, _shares(counts) * _shares(counts))


def _smoothed(counts: Any, rows: Any, columns: Any) -> Any:
    return _against(counts, np.outer(rows, columns))


def _raised(counts: Any, power: Any) -> Any:
    raised = counts.sum(axis=0) ** power
    return raised / raised.sum()


def not_raised(counts: Any, power: Any) -> Any:
    return _smoothed(counts, _shares(counts), _shares(counts))


def both_raised(counts: Any, power: Any) -> Any:
    return _smoothed(counts, _raised(counts, power), _raised(counts, power))


def no_shares(counts: Any, power: Any) -> Any:
    return _smoothed(counts, _shares(counts), _shares(counts) ** power)


COACHING = {
    "split_word": coaching(
        hints=[
            say("Are your pieces shorter than they could be?"),
            say("`fits` holds positions; the longest piece ends at the one that is furthest on."),
            say("The largest number of a list is `max(...)` of it."),
        ],
        mistakes=[
            (say("You took the shortest piece that fits; WordPiece takes the longest."), shortest),
            (say("Pieces that continue a word begin with ##; yours do not."), without_marks),
        ],
    ),
    "ppmi": coaching(
        hints=[
            say("By chance alone, how often would two meet that each make up a tenth of the text?"),
            say("A share times a share, for each pair: a table of n by n."),
            say("`alone[:, None] * alone[None, :]`, or np.outer of the two."),
        ],
        mistakes=[
            (
                say(
                    "Your chances are larger than any pair's share: a share times a share is "
                    "smaller than either."
                ),
                row_alone,
            ),
            (
                say("That is the square of each share: a pair needs the share of the one and of the other."),
                squared,
            ),
        ],
    ),
    "smoothed_ppmi": coaching(
        hints=[
            say("Do your columns' shares add up to 1? And are those of the rows still what they were?"),
            say("Raise the sums of the columns to the power first, then divide by the sum of what came out."),
            say("`raised = counts.sum(axis=0) ** power`; then np.outer of the rows' shares and of these."),
        ],
        mistakes=[
            (say("Nothing is raised to the power: this is the PPMI of before."), not_raised),
            (say("You raised both: the rows' shares stay as they are."), both_raised),
            (say("After the power they are no shares any more: they do not add up to 1."), no_shares),
        ],
    ),
}
