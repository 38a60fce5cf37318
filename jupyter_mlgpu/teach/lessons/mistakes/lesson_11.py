"""Lesson 11: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

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


def heads_last(x: Any, heads: Any) -> Any:
    from keras import ops

    n, width = x.shape[1:]
    return ops.reshape(x, (-1, n, heads, width // heads))


def reshaped_alone(x: Any, heads: Any) -> Any:
    from keras import ops

    n, width = x.shape[1:]
    return ops.reshape(x, (-1, heads, n, width // heads))


def parts_turned(x: Any, heads: Any) -> Any:
    from keras import ops

    return ops.swapaxes(heads_last(x, heads), 2, 3)


def _in_blocks(queries: Any, keys: Any, values: Any, size: Any, shrunk: tuple[bool, bool], add: bool) -> Any:
    largest, total, answer = -np.inf, 0.0, 0.0
    for first in range(0, len(keys), size):
        scores = queries @ keys[first : first + size].T / queries.shape[-1] ** 0.5
        before, largest = largest, np.maximum(largest, scores.max(axis=-1, keepdims=True))
        weights, shrink = np.exp(scores - largest), np.exp(before - largest)
        total, answer = (
            one * (shrink if so else 1) * add for one, so in zip((total, answer), shrunk, strict=True)
        )
        total = total + weights.sum(axis=-1, keepdims=True)
        answer = answer + weights @ values[first : first + size]
    return answer / total


def nothing_shrunk(queries: Any, keys: Any, values: Any, size: Any) -> Any:
    return _in_blocks(queries, keys, values, size, (False, False), True)


def one_shrunk(queries: Any, keys: Any, values: Any, size: Any) -> Any:
    return _in_blocks(queries, keys, values, size, (True, False), True)


def last_block(queries: Any, keys: Any, values: Any, size: Any) -> Any:
    return _in_blocks(queries, keys, values, size, (True, True), False)


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
            say("In the table of queries and keys, which side of the diagonal should be 0?"),
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
    "split_heads": coaching(
        hints=[
            say("Compare the shape of yours with the one that is asked for: which axis stands where?"),
            say("`parts` has the axes row, word, head, size; two neighbours have to change places."),
            say("`ops.swapaxes(parts, a, b)` exchanges two axes, which are counted from 0."),
        ],
        mistakes=[
            (say("Your heads stand behind the words: attention would look from head to head."), heads_last),
            (
                say("The shape is right, the numbers are not: a reshape alone mixes the words."),
                reshaped_alone,
            ),
            (say("You exchanged the heads with the numbers of a part, not with the words."), parts_turned),
        ],
    ),
    "attend_in_blocks": coaching(
        hints=[
            say(
                "When a later block has a larger score, what becomes of the weights that were summed before?"
            ),
            say("What was summed before is worth `shrink` times as much now; then the new block is added."),
            say("`total` adds up weights.sum(axis=-1, keepdims=True); `answer` adds weights @ their values."),
        ],
        mistakes=[
            (say("The sums of the blocks before were not brought to the new largest score."), nothing_shrunk),
            (say("You shrank `total` and not `answer`: both are sums of old weights."), one_shrunk),
            (say("Only the last block counts: what came before has to be kept."), last_block),
        ],
    ),
}
