"""Lesson 05: hints and likely mistakes."""

from __future__ import annotations

from itertools import groupby, pairwise
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def no_signature(function: Any) -> Any:
    import tensorflow as tf

    return tf.function(function)


def relaxed_too_late(function: Any) -> Any:
    import tensorflow as tf

    return tf.function(function, reduce_retracing=True)


def still_einsum(queries: Any, keys: Any) -> Any:
    import tensorflow as tf

    return tf.einsum("bqd,bkd->bqk", queries, keys)


def other_way_round(queries: Any, keys: Any) -> Any:
    import tensorflow as tf

    return tf.matmul(keys, queries, transpose_b=True)


def not_cut(operations: Any, kernels: Any) -> Any:
    return [sum(one in kernels for one in operations)], 2


def _sizes(operations: Any, kernels: Any) -> list[int]:
    pieces = groupby(operations, key=lambda one: one in kernels)
    return [len(list(piece)) for has_kernel, piece in pieces if has_kernel]


def one_copy_each(operations: Any, kernels: Any) -> Any:
    sizes = _sizes(operations, kernels)
    return sizes, len(sizes)


def copies_in_between(operations: Any, kernels: Any) -> Any:
    places = [one in kernels for one in operations]
    return _sizes(operations, kernels), sum(one != other for one, other in pairwise(places))


COACHING = {
    "one_graph": coaching(
        hints=[
            say("The table says how often Python read the function. Each time is a graph."),
            say(
                "`tf.function` takes an `input_signature`: a list with one `tf.TensorSpec` for each argument."
            ),
            say("A vector of any length has the shape [None]."),
        ],
        mistakes=[
            (
                say("Python read it for each length: nothing says that one graph serves them all."),
                no_signature,
            ),
            (
                say(
                    "reduce_retracing gives up on fixed lengths only at the second one: say it "
                    "from the start, with a signature."
                ),
                relaxed_too_late,
            ),
        ],
    ),
    "scores": coaching(
        hints=[
            say("Look at both parts: are the numbers right, and does anything fall back?"),
            say("A score is a product of one row of queries and one row of keys: rows with rows."),
            say("tf.matmul has an argument `transpose_b` that transposes its second matrix."),
        ],
        mistakes=[
            (say("The numbers are right, but einsum falls back: Metal has no kernel for it."), still_einsum),
            (say("You have queries and keys the other way round."), other_way_round),
        ],
    ),
    "subgraphs": coaching(
        hints=[
            say("Walk along the chain and write G or C under each operation. Where does the letter change?"),
            say("A run of equal letters is a piece. itertools.groupby finds the runs of a list."),
            say("Each subgraph needs its input copied to the device, and its result copied back."),
        ],
        mistakes=[
            (
                say("You counted all operations of the GPU together: those on the CPU cut them apart."),
                not_cut,
            ),
            (say("You counted one copy for each subgraph; its result has to come back, too."), one_copy_each),
            (
                say("You left out a copy at an end of the chain: its input and its result lie on the host."),
                copies_in_between,
            ),
        ],
    ),
}
