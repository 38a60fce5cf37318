"""Lesson 11: the weights of attention, and a mask that hides what comes later."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def attention_weights(queries: Any, keys: Any) -> Any:
    """How much each query looks at each key: [..., q, d] and [..., k, d] to [..., q, k]."""
    from keras import ops

    scores = ops.matmul(queries, ops.swapaxes(keys, -1, -2))
    return ops.softmax(scores / queries.shape[-1] ** 0.5)


def causal_weights(scores: Any) -> Any:
    """The weights of these scores, [..., n, n], where no place looks at a later one."""
    from keras import ops

    places = ops.arange(scores.shape[-1])
    later = places[None, :] > places[:, None]
    return ops.softmax(ops.where(later, -1e9, scores))


def as_a_layer(answer: Answer, arguments: Arguments) -> object:
    """What `answer` gives as a part of a Keras network, for that is how the lesson uses it."""
    import keras

    inputs = [keras.Input(batch_shape=np.asarray(one).shape, dtype="float32") for one in arguments.values()]
    described = answer(*inputs)
    if described is None or described is ...:
        return None
    return keras.Function(inputs, described)(list(arguments.values()))


def _fresh_words(draw: random.Random) -> Arguments:
    heads, queries, width = draw.randint(2, 3), draw.randint(2, 4), draw.randint(3, 9)
    keys = draw.randint(5, 7)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {
        "queries": numbers.normal(size=(heads, queries, width)).astype("float32"),
        "keys": numbers.normal(size=(heads, keys, width)).astype("float32"),
    }


def _fresh_scores(draw: random.Random) -> Arguments:
    words = draw.randint(4, 6)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {"scores": numbers.normal(size=(draw.randint(2, 3), words, words)).astype("float32")}


EXERCISES = (
    Exercise(
        name="attention_weights",
        task=say("return the weights with which each query looks at the keys"),
        reference=attention_weights,
        # d is 4, so its root is 2. The first query asks nothing and looks everywhere alike.
        example={
            "queries": np.array([[0, 0, 0, 0], [4, 0, 0, 0]], "float32"),
            "keys": np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]], "float32"),
        },
        fresh=_fresh_words,
        run=as_a_layer,
    ),
    Exercise(
        name="causal_weights",
        task=say("set `later` to True where a query must not see a key"),
        reference=causal_weights,
        # Equal scores: a row divides its attention evenly among those that it may see. So many that they
        # are drawn, for a mask is a shape.
        example={"scores": np.zeros((6, 6), "float32")},
        fresh=_fresh_scores,
        run=as_a_layer,
    ),
)
