"""Lesson 12: the disguised input of BERT, the loss of its guesses, and two parts of a Transformer block."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise
from jupyter_mlgpu.teach.lessons.exercises.lesson_11 import as_a_layer

# Numbers that no other argument has, so that each number of a result shows its source.
_MASK = 4


def disguise(row: Any, chosen: Any, dice: Any, others: Any, mask: int) -> Any:
    """Return the model's input: 80 % of the chosen tokens become `mask`, 10 % another token."""
    shown = np.where(chosen & (dice < 0.8), mask, row)
    return np.where(chosen & (dice >= 0.9), others, shown)


def masked_loss(losses: Any, chosen: Any) -> Any:
    """Return the mean of the losses over the chosen places."""
    return (losses * chosen).sum() / chosen.sum()


def layer_norm(x: Any) -> Any:
    """Return each vector with mean 0 and standard deviation 1: [..., width] to [..., width]."""
    from keras import ops

    mean = ops.mean(x, axis=-1, keepdims=True)
    variance = ops.var(x, axis=-1, keepdims=True) + 1e-6  # never 0
    return (x - mean) / ops.sqrt(variance)


def block(x: Any, norm: Any, attention: Any, feed_forward: Any) -> Any:
    """Apply a Transformer block: attention, then feed-forward, each normalized before and added after."""
    x = x + attention(norm(x))
    return x + feed_forward(norm(x))


def whole_words(continues: Any, chosen: Any) -> Any:
    """Return a boolean for each piece, [n]: True if any piece of its word is chosen."""
    word = np.cumsum(~continues)  # the number of the word in which each piece stands
    return np.isin(word, word[chosen])


def with_stand_ins(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` on x with parts simple enough to follow; the lesson describes them."""
    from keras import ops

    def norm(x: Any) -> Any:
        return x - ops.mean(x, axis=-1, keepdims=True)

    def attention(x: Any) -> Any:
        return 0 * x + ops.mean(x, axis=-2, keepdims=True)

    def feed_forward(x: Any) -> Any:
        return 10 * x

    return answer(ops.convert_to_tensor(arguments["x"]), norm, attention, feed_forward)


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
    # Any number of 1 among 0, but at least one.
    chosen = (random_numbers.random(shape) < 0.4).astype("float32")
    chosen[0, draw.randrange(shape[1])] = 1
    return {"losses": random_numbers.uniform(1, 9, shape).astype("float32"), "chosen": chosen}


def _fresh_vectors(draw: random.Random) -> Arguments:
    shape = (draw.randint(2, 3), draw.randint(3, 5), draw.randint(4, 8))
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    return {"x": random_numbers.normal(3, 5, shape).astype("float32")}


def _fresh_pieces(draw: random.Random) -> Arguments:
    # Words of one to four pieces, of which about one in six is chosen. Of the last word, the last piece is
    # chosen.
    lengths = [draw.randint(1, 4) for _ in range(8)] + [4]
    continues = np.array([piece > 0 for length in lengths for piece in range(length)])
    chosen = np.random.default_rng(draw.getrandbits(32)).random(continues.size) < 0.15
    chosen[-4:] = [False, False, False, True]
    return {"continues": continues, "chosen": chosen}


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
    Exercise(
        name="layer_norm",
        task=say("return each vector with the mean 0 and the standard deviation 1"),
        reference=layer_norm,
        # Their means are 4 and 1, their variances 8 and 18.
        example={"x": np.array([[2, 2, 8, 4], [1, 1, 7, -5]], "float32")},
        fresh=_fresh_vectors,
        run=as_a_layer,
        tolerance=1e-4,
    ),
    Exercise(
        name="block",
        task=say("return the vectors after both parts, each of them normalized before and added"),
        reference=block,
        example={"x": np.array([[1, 2, 6], [10, 4, 1]], "float32")},
        fresh=_fresh_vectors,
        run=with_stand_ins,
        tolerance=1e-4,
    ),
    Exercise(
        name="whole_words",
        task=say("choose every piece of each word of which one piece is chosen, and no other"),
        reference=whole_words,
        # un ##believ ##able | rate | hal ##v ##ed
        example={
            "continues": np.array([False, True, True, False, False, True, True]),
            "chosen": np.array([False, False, True, False, True, False, False]),
        },
        fresh=_fresh_pieces,
    ),
)
