"""Lesson 11: attention weights, a mask that hides later places, heads, and attention in blocks."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def attention_weights(queries: Any, keys: Any) -> Any:
    """Return the attention weights of each query for each key: [..., q, d] and [..., k, d] to [..., q, k]."""
    from keras import ops

    scores = ops.matmul(queries, ops.swapaxes(keys, -1, -2))
    return ops.softmax(scores / queries.shape[-1] ** 0.5)


def causal_weights(scores: Any) -> Any:
    """Return the weights of these scores, [..., n, n]; no place attends to a later one."""
    from keras import ops

    places = ops.arange(scores.shape[-1])
    later = places[None, :] > places[:, None]
    return ops.softmax(ops.where(later, -1e9, scores))


def split_heads(x: Any, heads: int) -> Any:
    """Cut each vector into `heads` parts: [rows, n, width] to [rows, heads, n, width / heads]."""
    from keras import ops

    n, width = x.shape[1:]
    parts = ops.reshape(x, (-1, n, heads, width // heads))
    return ops.swapaxes(parts, 1, 2)


def attend_in_blocks(queries: Any, keys: Any, values: Any, size: int) -> Any:
    """Compute attention with `size` keys at a time: [q, d], [k, d] and [k, v] to [q, v]."""
    largest, total, answer = -np.inf, 0.0, 0.0
    for first in range(0, len(keys), size):
        scores = queries @ keys[first : first + size].T / queries.shape[-1] ** 0.5
        before, largest = largest, np.maximum(largest, scores.max(axis=-1, keepdims=True))
        weights, shrink = np.exp(scores - largest), np.exp(before - largest)
        total = total * shrink + weights.sum(axis=-1, keepdims=True)
        answer = answer * shrink + weights @ values[first : first + size]
    return answer / total


def as_a_layer(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` as a layer of a Keras network, as the lesson uses it."""
    import keras

    inputs = [keras.Input(batch_shape=np.asarray(one).shape, dtype="float32") for one in arguments.values()]
    described = answer(*inputs)
    if described is None or described is ...:
        return None
    return keras.Function(inputs, described)(list(arguments.values()))


def _split_as_a_layer(answer: Answer, arguments: Arguments) -> object:
    """Call `answer` as `as_a_layer` does, with the number of heads as a plain number."""
    return as_a_layer(lambda x: answer(x, arguments["heads"]), {"x": arguments["x"]})


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


def _fresh_vectors(draw: random.Random) -> Arguments:
    heads, size = draw.sample([2, 3, 4, 5], 2)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {"x": numbers.normal(size=(2, draw.randint(6, 8), heads * size)).astype("float32"), "heads": heads}


def _fresh_text(draw: random.Random) -> Arguments:
    queries, keys, width = draw.randint(3, 5), draw.randint(9, 13), draw.randint(3, 6)
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {
        "queries": 3 * numbers.normal(size=(queries, width)),
        "keys": numbers.normal(size=(keys, width)),
        "values": numbers.normal(size=(keys, 2)),
        "size": 4,
    }


EXERCISES = (
    Exercise(
        name="attention_weights",
        task=say("return the weights with which each query looks at the keys"),
        reference=attention_weights,
        # d is 4, so its square root is 2. The first query is 0 and attends equally to all.
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
        # Equal scores: a row divides its weight evenly among the places it may see.
        example={"scores": np.zeros((3, 3), "float32")},
        fresh=_fresh_scores,
        run=as_a_layer,
    ),
    Exercise(
        name="split_heads",
        task=say("return the parts of the vectors, the heads before the words"),
        reference=split_heads,
        example={
            "x": np.array([[[11, 12, 13, 14], [21, 22, 23, 24], [31, 32, 33, 34]]], "float32"),
            "heads": 2,
        },
        fresh=_fresh_vectors,
        run=_split_as_a_layer,
    ),
    Exercise(
        name="attend_in_blocks",
        task=say("bring `total` and `answer` up to date after each block of keys"),
        reference=attend_in_blocks,
        # The second block has the larger scores, so that earlier sums have to shrink.
        example={
            "queries": np.array([[1.0, 0.0], [0.0, 2.0]]),
            "keys": np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [4.0, 1.0]]),
            "values": np.array([[1.0], [10.0], [100.0], [1000.0]]),
            "size": 2,
        },
        fresh=_fresh_text,
    ),
)
