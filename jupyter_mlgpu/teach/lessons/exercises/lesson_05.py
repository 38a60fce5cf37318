"""Lesson 05: one graph for every length, scores without a fallback, and where a chain is cut."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def one_graph(function: Any) -> Any:
    """Return `function`, which takes a vector of float32, as a graph for vectors of any length."""
    import tensorflow as tf

    return tf.function(function, input_signature=[tf.TensorSpec([None], tf.float32)])


def scores(queries: Any, keys: Any) -> Any:
    """Return [b, q, d] times [b, k, d] as [b, q, k], with operations that have Metal kernels."""
    import tensorflow as tf

    return tf.matmul(queries, keys, transpose_b=True)


def subgraphs(operations: Any, kernels: Any) -> Any:
    """Return the sizes of a chain's GPU subgraphs, and the number of copies between host and device."""
    from itertools import groupby

    pieces = groupby(operations, key=lambda operation: operation in kernels)
    sizes = [len(list(piece)) for has_kernel, piece in pieces if has_kernel]
    copies = 2 * len(sizes)
    return sizes, copies


class Squares:
    """Squares a vector, and counts how often Python reads it.

    It is an object because TensorFlow warns of frequent retracing by a function's code, and every check
    builds a graph of its own.
    """

    def __init__(self) -> None:
        self.read = 0

    def __call__(self, vector: Any) -> Any:
        self.read += 1
        return vector * vector


def count_traces(answer: Answer, arguments: Arguments) -> object:
    """Return how often Python reads the function in the answer's graph, and the graph's last result."""
    import tensorflow as tf

    lengths = arguments["lengths"]
    assert isinstance(lengths, list)
    squares = Squares()
    graph = answer(squares)
    if graph is None or graph is ...:
        return None
    results = [graph(tf.range(length, dtype=tf.float32)) for length in lengths]
    return {say("times traced"): squares.read, say("last result"): results[-1]}


def numbers_and_fallbacks(answer: Answer, arguments: Arguments) -> object:
    """Return the answer's result, and the number of operations in its graph without a Metal kernel."""
    import tensorflow as tf

    from jupyter_mlgpu.graphs.planning.forecast import plan

    tensors = [tf.constant(one) for one in arguments.values()]
    at_once = answer(*tensors)
    if at_once is None or at_once is ...:
        return None
    forecast = plan(tf.function(answer), *tensors)
    return {say("scores"): at_once, say("would fall back"): sum(one.count for one in forecast.fallbacks)}


def _vectors(batch: int, queries: int, keys: int, width: int, draw: random.Random) -> Arguments:
    values = np.random.default_rng(draw.randrange(2**32))
    return {
        "queries": values.integers(-3, 4, (batch, queries, width)).astype(np.float32),
        "keys": values.integers(-3, 4, (batch, keys, width)).astype(np.float32),
    }


def _chain(draw: random.Random) -> Arguments:
    """Return a chain that begins on the GPU, so that the copy of the input counts."""
    names = ["MatMul", "Relu", "Softmax", "AddV2", "Einsum", "Cumsum"]
    draw.shuffle(names)
    kernels, others = names[:3], names[3:]
    operations: list[str] = []
    for _ in range(draw.randint(2, 3)):
        operations += draw.choices(kernels, k=draw.randint(1, 3))
        operations += draw.choices(others, k=draw.randint(1, 2))
    operations += draw.choices(kernels, k=draw.randint(0, 2))
    return {"operations": operations, "kernels": kernels}


EXERCISES = (
    Exercise(
        name="one_graph",
        task=say("return a graph of `function` that is traced once, whatever the length of its vector"),
        reference=one_graph,
        example={"lengths": [2, 3, 4]},
        fresh=lambda draw: {"lengths": draw.sample(range(1, 9), 3)},
        run=count_traces,
    ),
    Exercise(
        name="scores",
        task=say("return the score of each query with each key, without anything that falls back"),
        reference=scores,
        # Each query selects one number of each key, which shows a wrong transpose or a wrong sum.
        example={
            "queries": np.array([[[1, 0, 0], [0, 1, 0]]], np.float32),
            "keys": np.array([[[1, 2, 3], [4, 5, 6]]], np.float32),
        },
        fresh=lambda draw: _vectors(
            draw.randint(1, 3), draw.randint(2, 4), draw.randint(5, 7), draw.randint(2, 4), draw
        ),
        run=numbers_and_fallbacks,
    ),
    Exercise(
        name="subgraphs",
        task=say(
            "return two things, a list with the size of each of the GPU's subgraphs in their order, and "
            "how many times a tensor is copied between host and device"
        ),
        reference=subgraphs,
        # It begins on the GPU and ends on the CPU, to tell copies at the ends from those in between.
        example={
            "operations": ["MatMul", "Relu", "Einsum", "Einsum", "MatMul", "Relu", "Relu", "Einsum"],
            "kernels": ["MatMul", "Relu"],
        },
        fresh=_chain,
    ),
)
