"""Lesson 12: what BERT is shown in place of the words it has to guess, and what its guesses cost."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise

# Numbers that no other argument has, so that one sees where each number of a result comes from.
_MASK = 4


def disguise(row: Any, chosen: Any, dice: Any, others: Any, mask: int) -> Any:
    """What the model is shown: of the chosen tokens, 80 % as `mask` and 10 % as another token."""
    shown = np.where(chosen & (dice < 0.8), mask, row)
    return np.where(chosen & (dice >= 0.9), others, shown)


def masked_loss(losses: Any, chosen: Any) -> Any:
    """The mean of the losses over the chosen places; the others do not count."""
    return (losses * chosen).sum() / chosen.sum()


def _fresh_rows(draw: random.Random) -> Arguments:
    shape = (draw.randint(3, 5), draw.randint(8, 12))
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    return {
        "row": random_numbers.integers(10, 99, shape),
        "chosen": random_numbers.random(shape) < 0.6,
        "dice": random_numbers.random(shape),
        "others": random_numbers.integers(100, 999, shape),
        "mask": _MASK,
    }


def _fresh_losses(draw: random.Random) -> Arguments:
    shape = (draw.randint(2, 4), draw.randint(4, 7))
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    # Chosen are 1, the others 0, as many as come; never none.
    chosen = (random_numbers.random(shape) < 0.4).astype("float32")
    chosen[0, draw.randrange(shape[1])] = 1
    return {"losses": random_numbers.uniform(1, 9, shape).astype("float32"), "chosen": chosen}


EXERCISES = (
    Exercise(
        name="disguise",
        task=say("show each chosen token as its die says, and every other token as it is"),
        reference=disguise,
        example={
            "row": np.array([11, 12, 13, 14, 15, 16]),
            "chosen": np.array([False, True, True, True, True, False]),
            "dice": np.array([0.1, 0.2, 0.79, 0.85, 0.95, 0.99]),
            "others": np.array([101, 102, 103, 104, 105, 106]),
            "mask": _MASK,
        },
        fresh=_fresh_rows,
    ),
    Exercise(
        name="masked_loss",
        task=say("return the mean of the losses at the chosen places"),
        reference=masked_loss,
        example={
            "losses": np.array([[1.0, 20.0, 300.0], [4000.0, 5.0, 60.0]], "float32"),
            "chosen": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], "float32"),
        },
        fresh=_fresh_losses,
    ),
)
