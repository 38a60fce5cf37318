"""Lesson 05: hints, and likely mistakes by name."""

from __future__ import annotations

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
            say("tf.matmul has an argument `transpose_b` that lays its second matrix on its side."),
        ],
        mistakes=[
            (say("The numbers are right, but einsum falls back: Metal has no kernel for it."), still_einsum),
            (say("You have queries and keys the other way round."), other_way_round),
        ],
    ),
}
