"""Wrong answers to the exercises of lesson 11: likely mistakes, each of which has to be rejected."""

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
}
