"""Lesson 13: one vector for a sentence, a fair draw of the few labels, and the confidence in a lead."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise
from jupyter_mlgpu.teach.lessons.display import yes


def pool(vectors: Any, rows: Any) -> Any:
    """Return the mean vector of each sentence's tokens; [PAD], which is token 0, does not count."""
    from keras import ops

    counts = ops.cast(ops.not_equal(rows, 0), vectors.dtype)[:, :, None]
    return ops.sum(vectors * counts, axis=1) / ops.sum(counts, axis=1)


def few(labels: Any, each: int, seed: int) -> Any:
    """Return random positions in `labels`: `each` of every class."""
    draw = np.random.default_rng(seed)
    mixed = draw.permutation(len(labels))
    return np.concatenate([mixed[labels[mixed] == one][:each] for one in np.unique(labels)])


def lead(first: Any, second: Any, draws: Any) -> Any:
    """Return the two numbers between which the first method's lead is in 95 % of the draws: [2]."""
    leads = (first[draws] - second[draws]).mean(axis=1)
    return np.percentile(leads, [2.5, 97.5])


def _run_in_a_model(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` inside a Keras model, as the lesson does; return None if it is left open."""
    import keras

    vectors, tokens = (np.asarray(one) for one in arguments.values())
    at_once = answer(keras.ops.convert_to_tensor(vectors), keras.ops.convert_to_tensor(tokens))
    if at_once is None or at_once is ...:
        return at_once
    inputs = [keras.Input(one.shape[1:], dtype=one.dtype.name) for one in (vectors, tokens)]
    return keras.Model(inputs, answer(*inputs)).predict([vectors, tokens], verbose=0)


def _fresh_vectors(draw: random.Random) -> Arguments:
    sentences, length, width = draw.randint(2, 3), draw.randint(4, 6), 2
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    tokens = np.zeros((sentences, length), "int32")
    for row in tokens:
        # At least one [PAD] each, so that an answer that counts it is wrong.
        filled = draw.randint(1, length - 1)
        row[:filled] = random_numbers.integers(5, 99, filled)
    vectors = random_numbers.uniform(1, 9, (sentences, length, width)).astype("float32")
    return {"vectors": vectors, "rows": tokens}


def _how_few(answer: Answer, arguments: Arguments) -> object:
    """Return properties of a random draw: the number of each class, and the number of repeated positions."""
    labels, each, seed = (np.asarray(one) for one in arguments.values())
    places = answer(labels, int(each), int(seed))
    if places is None or places is ...:
        return None
    places = np.asarray(places)
    again = np.asarray(answer(labels, int(each), int(seed)))
    other = np.asarray(answer(labels, int(each), int(seed) + 1))
    drawn = labels[places]
    return {
        say("of each class"): [int((drawn == one).sum()) for one in np.unique(labels)],
        say("drawn twice"): len(places) - len(set(places.tolist())),
        say("the same for the same seed"): yes(set(places.tolist()) == set(again.tolist())),
        say("the same for another seed"): yes(set(places.tolist()) == set(other.tolist())),
    }


def _fresh_labels(draw: random.Random) -> Arguments:
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    classes, each = draw.randint(3, 5), draw.randint(4, 6)
    sizes = [draw.randint(40, 90) for _ in range(classes)]
    labels = random_numbers.permutation(np.repeat(np.arange(classes), sizes))
    return {"labels": labels, "each": each, "seed": draw.randint(0, 99)}


def _fresh_answers(draw: random.Random) -> Arguments:
    random_numbers = np.random.default_rng(draw.getrandbits(32))
    size = draw.randint(30, 50)
    first, second = (random_numbers.random(size) < share for share in (0.7, 0.4))
    draws = random_numbers.integers(0, size, (200, size))
    return {"first": first.astype(float), "second": second.astype(float), "draws": draws}


EXERCISES = (
    Exercise(
        name="pool",
        task=say("for each sentence, return the mean of the vectors whose token is not 0"),
        reference=pool,
        example={
            "vectors": np.array(
                [[[1, 10], [3, 30], [500, 5000]], [[7, 70], [900, 9000], [900, 9000]]], "float32"
            ),
            "rows": np.array([[2, 8, 0], [2, 0, 0]], "int32"),
        },
        fresh=_fresh_vectors,
        run=_run_in_a_model,
    ),
    Exercise(
        name="few",
        task=say(
            "draw `each` places of every class at random, none twice, and the same ones for the same seed"
        ),
        reference=few,
        example={"labels": np.repeat(np.arange(3), 50), "each": 4, "seed": 0},
        fresh=_fresh_labels,
        run=_how_few,
    ),
    Exercise(
        name="lead",
        task=say("return the two numbers between which the first method's lead is in 95 % of the draws"),
        reference=lead,
        # Five draws of four sentences. In order, the leads are -0.25, 0, 0.25, 0.5 and 1.
        example={
            "first": np.array([1.0, 1.0, 0.0, 1.0]),
            "second": np.array([0.0, 1.0, 1.0, 0.0]),
            "draws": np.array([[0, 1, 1, 2], [0, 0, 3, 3], [0, 1, 3, 2], [2, 2, 0, 1], [0, 3, 1, 1]]),
        },
        fresh=_fresh_answers,
    ),
)
