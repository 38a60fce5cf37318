"""Lesson 11: hints, and likely mistakes by name."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def _scores(queries: Any, keys: Any) -> Any:
    from keras import ops

    return ops.matmul(queries, ops.swapaxes(keys, -1, -2))


def _hidden(scores: Any, later: Any) -> Any:
    from keras import ops

    return ops.softmax(ops.where(later, -1e9, scores))


def _places(scores: Any) -> Any:
    from keras import ops

    return ops.arange(scores.shape[-1])


def without_the_root(queries: Any, keys: Any) -> Any:
    from keras import ops

    return ops.softmax(_scores(queries, keys))


def by_the_width(queries: Any, keys: Any) -> Any:
    from keras import ops

    return ops.softmax(_scores(queries, keys) / queries.shape[-1])


def divided_afterwards(queries: Any, keys: Any) -> Any:
    from keras import ops

    return ops.softmax(_scores(queries, keys)) / queries.shape[-1] ** 0.5


def past_hidden(scores: Any) -> Any:
    places = _places(scores)
    return _hidden(scores, places[None, :] < places[:, None])


def itself_hidden(scores: Any) -> Any:
    places = _places(scores)
    return _hidden(scores, places[None, :] >= places[:, None])


def nothing_hidden(scores: Any) -> Any:
    from keras import ops

    return ops.softmax(scores)


COACHING = {
    "attention_weights": coaching(
        hints=[
            say("Do your rows add up to 1? Are they too sharp, or too flat?"),
            say("The scores are divided by the root of their width before the softmax, not after it."),
            say("`** 0.5` is a root; ops.softmax works along the last axis."),
        ],
        mistakes=[
            (say("You left out the root: the weights are too sharp."), without_the_root),
            (say("You divided by d, not by its root."), by_the_width),
            (say("You divided after the softmax: the rows no longer add up to 1."), divided_afterwards),
        ],
    ),
    "causal_weights": coaching(
        hints=[
            say("In the picture, which side of the diagonal should be 0?"),
            say("A key is hidden where its position is larger than the query's."),
            say(
                "Compare the row `places[None, :]` with the column `places[:, None]`: is it `<`, `>` or `>=`?"
            ),
        ],
        mistakes=[
            (say("You hid the past instead of the future."), past_hidden),
            (say("You hid each word from itself, too."), itself_hidden),
            (say("Nothing is hidden: every word sees what comes after it."), nothing_hidden),
        ],
    ),
}
