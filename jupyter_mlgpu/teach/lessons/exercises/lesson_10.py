"""Lesson 10: a word cut into tokens, and pair counts compared with chance, also smoothed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def split_word(word: Any, pieces: Any) -> Any:
    """Return a word in pieces, each the longest that fits; all but the first begin with ##."""
    found, start = [], 0
    while start < len(word):
        mark = "##" if start else ""
        fits = [end for end in range(start + 1, len(word) + 1) if mark + word[start:end] in pieces]
        end = max(fits)
        found.append(mark + word[start:end])
        start = end
    return found


def ppmi(counts: Any) -> Any:
    """Return the logarithm of how much more often than by chance pairs occur, and 0 if less often."""
    total = counts.sum()
    alone = counts.sum(axis=1) / total
    by_chance = np.outer(alone, alone)
    ratio = counts / total / np.maximum(by_chance, 1e-12)  # a piece that never occurs has a share of 0
    return np.log(np.maximum(ratio, 1))


def smoothed_ppmi(counts: Any, power: float) -> Any:
    """Return PPMI with the columns' counts raised to `power` before they become shares: [n, n]."""
    pairs = counts / counts.sum()
    raised = counts.sum(axis=0) ** power
    by_chance = np.outer(counts.sum(axis=1) / counts.sum(), raised / raised.sum())
    return np.log(np.maximum(pairs / np.maximum(by_chance, 1e-12), 1))


def _fresh_word(draw: random.Random) -> Arguments:
    letters = "abc"
    longer = ["".join(draw.choices(letters, k=draw.randint(2, 4))) for _ in range(8)]
    pieces = [*letters, *longer]
    # The longer pieces occur in the word, so that more than single letters fit.
    word = "".join(draw.sample(longer, 3))
    return {"word": word, "pieces": sorted({*pieces, *(f"##{one}" for one in pieces)})}


def _fresh_counts(draw: random.Random) -> Arguments:
    size = draw.randint(4, 7)
    found = np.random.default_rng(draw.getrandbits(32)).integers(0, 9, (size, size)).astype(float)
    return {"counts": found + found.T}


def _fresh_powers(draw: random.Random) -> Arguments:
    # The sums differ much between rows, as those of words do.
    counts = np.asarray(_fresh_counts(draw)["counts"])
    often = np.array([draw.randint(1, 9) for _ in counts])
    return {"counts": counts * np.outer(often, often), "power": draw.choice([0.5, 0.75])}


EXERCISES = (
    Exercise(
        name="split_word",
        task=say("set `end` to where the piece ends that WordPiece takes"),
        reference=split_word,
        example={
            "word": "abcab",
            "pieces": ["a", "b", "c", "ab", "##a", "##b", "##c", "##ca"],
        },
        fresh=_fresh_word,
    ),
    Exercise(
        name="ppmi",
        task=say("set `by_chance`, for each pair, to the share that chance alone would give it"),
        reference=ppmi,
        # The first occurs with every other; the second and third occur more with each other than with it.
        example={"counts": np.array([[0.0, 4.0, 4.0], [4.0, 0.0, 8.0], [4.0, 8.0, 0.0]])},
        fresh=_fresh_counts,
    ),
    Exercise(
        name="smoothed_ppmi",
        task=say("set `by_chance` with the columns' counts raised to the power, and shares again"),
        reference=smoothed_ppmi,
        # The third is rare, and occurs only with the second.
        example={"counts": np.array([[4.0, 8.0, 0.0], [8.0, 16.0, 1.0], [0.0, 1.0, 0.0]]), "power": 0.5},
        fresh=_fresh_powers,
    ),
)
