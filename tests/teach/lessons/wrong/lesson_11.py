"""Wrong answers to the exercises of lesson 11: likely mistakes, each of which has to be rejected."""

import numpy as np
from keras import ops


def scores_of(queries, keys):
    return ops.matmul(queries, ops.swapaxes(keys, -1, -2))


def without_the_root(queries, keys):
    return ops.softmax(scores_of(queries, keys))


def divided_by_the_width(queries, keys):
    return ops.softmax(scores_of(queries, keys) / queries.shape[-1])


def divided_after_the_softmax(queries, keys):
    return ops.softmax(scores_of(queries, keys)) / queries.shape[-1] ** 0.5


def along_the_queries(queries, keys):
    return ops.softmax(scores_of(queries, keys) / queries.shape[-1] ** 0.5, axis=-2)


def root_of_the_number_of_keys(queries, keys):
    return ops.softmax(scores_of(queries, keys) / keys.shape[-2] ** 0.5)


def no_softmax(queries, keys):
    return scores_of(queries, keys) / queries.shape[-1] ** 0.5


def keys_not_turned(queries, keys):
    return ops.softmax(ops.matmul(queries, keys) / queries.shape[-1] ** 0.5)


def with_later(scores, later):
    return ops.softmax(ops.where(later, -1e9, scores))


def places_of(scores):
    return ops.arange(scores.shape[-1])


def the_past_hidden(scores):
    places = places_of(scores)
    return with_later(scores, places[None, :] < places[:, None])


def itself_hidden_too(scores):
    places = places_of(scores)
    return with_later(scores, places[None, :] >= places[:, None])


def the_next_one_still_seen(scores):
    places = places_of(scores)
    return with_later(scores, places[None, :] > places[:, None] + 1)


def nothing_hidden(scores):
    places = places_of(scores)
    return with_later(scores, places[None, :] > places[None, :])


def hidden_after_the_softmax(scores):
    places = places_of(scores)
    return ops.where(places[None, :] > places[:, None], 0.0, ops.softmax(scores))


def zero_in_place_of_a_large_negative_number(scores):
    places = places_of(scores)
    return ops.softmax(ops.where(places[None, :] > places[:, None], 0.0, scores))


def parts_of(x, heads):
    return ops.reshape(x, (-1, x.shape[1], heads, x.shape[2] // heads))


def not_swapped(x, heads):
    return parts_of(x, heads)


def reshaped_alone(x, heads):
    return ops.reshape(x, (-1, heads, x.shape[1], x.shape[2] // heads))


def the_parts_turned(x, heads):
    return ops.swapaxes(parts_of(x, heads), 2, 3)


def every_other_number(x, heads):
    return ops.transpose(ops.reshape(x, (-1, x.shape[1], x.shape[2] // heads, heads)), (0, 3, 1, 2))


def blocks(queries, keys, values, size):
    for first in range(0, len(keys), size):
        scores = queries @ keys[first : first + size].T / queries.shape[-1] ** 0.5
        yield scores, values[first : first + size]


def mean_of_the_blocks(queries, keys, values, size):
    found = []
    for scores, block in blocks(queries, keys, values, size):
        weights = np.exp(scores)
        found.append(weights @ block / weights.sum(axis=-1, keepdims=True))
    return np.mean(found, axis=0)


def the_last_block(queries, keys, values, size):
    *_, (scores, block) = blocks(queries, keys, values, size)
    weights = np.exp(scores)
    return weights @ block / weights.sum(axis=-1, keepdims=True)


def not_brought_to_the_new_largest(queries, keys, values, size):
    largest, total, answer = -np.inf, 0, 0
    for scores, block in blocks(queries, keys, values, size):
        largest = np.maximum(largest, scores.max(axis=-1, keepdims=True))
        weights = np.exp(scores - largest)
        total, answer = total + weights.sum(axis=-1, keepdims=True), answer + weights @ block
    return answer / total


def not_divided(queries, keys, values, size):
    return sum(np.exp(scores) @ block for scores, block in blocks(queries, keys, values, size))


WRONG = {
    "attention_weights": [
        without_the_root,
        divided_by_the_width,
        divided_after_the_softmax,
        along_the_queries,
        root_of_the_number_of_keys,
        no_softmax,
        keys_not_turned,
    ],
    "causal_weights": [
        the_past_hidden,
        itself_hidden_too,
        the_next_one_still_seen,
        nothing_hidden,
        hidden_after_the_softmax,
        zero_in_place_of_a_large_negative_number,
    ],
    "split_heads": [not_swapped, reshaped_alone, the_parts_turned, every_other_number],
    "attend_in_blocks": [
        mean_of_the_blocks,
        the_last_block,
        not_brought_to_the_new_largest,
        not_divided,
    ],
}
