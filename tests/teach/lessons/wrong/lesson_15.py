"""Wrong answers to the exercises of lesson 15: likely mistakes, each of which has to be rejected."""

import numpy as np


def softmax(x, axis=-1):
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def multiplied(scores, temperature):
    return softmax(scores * temperature)


def divided_after(scores, temperature):
    return softmax(scores) / temperature


def not_used(scores, temperature):
    return softmax(scores)


def no_softmax(scores, temperature):
    return scores / temperature


def squared(scores, temperature):
    return softmax(scores / temperature**2)


def mixed_of(query, keys, values, root):
    weights = softmax(keys @ query[:, :, None] / root, axis=1)
    return (weights * values).sum(axis=1)


def kept(key, value, keys, values, place):
    keys[:, place], values[:, place] = key, value


def all_places(query, key, value, keys, values, place):
    kept(key, value, keys, values, place)
    return mixed_of(query, keys, values, query.shape[-1] ** 0.5)


def up_to_the_one_before(query, key, value, keys, values, place):
    kept(key, value, keys, values, place)
    return mixed_of(query, keys[:, :place], values[:, :place], query.shape[-1] ** 0.5)


def not_kept(query, key, value, keys, values, place):
    return mixed_of(query, keys[:, : place + 1], values[:, : place + 1], query.shape[-1] ** 0.5)


def no_root(query, key, value, keys, values, place):
    kept(key, value, keys, values, place)
    return mixed_of(query, keys[:, : place + 1], values[:, : place + 1], 1)


def the_value_alone_kept(query, key, value, keys, values, place):
    values[:, place] = value
    return mixed_of(query, keys[:, : place + 1], values[:, : place + 1], query.shape[-1] ** 0.5)


def over_the_heads(query, key, value, keys, values, place):
    kept(key, value, keys, values, place)
    scores = keys[:, : place + 1] @ query[:, :, None] / query.shape[-1] ** 0.5
    return (softmax(scores, axis=0) * values[:, : place + 1]).sum(axis=1)


def keys_only(layers, width, length, bytes_each):
    return layers * width * length * bytes_each


def one_layer(layers, width, length, bytes_each):
    return 2 * width * length * bytes_each


def not_in_bytes(layers, width, length, bytes_each):
    return 2 * layers * width * length


def length_squared(layers, width, length, bytes_each):
    return 2 * layers * width * length**2 * bytes_each


def seconds(bandwidth, weights, cache, texts):
    return (weights + texts * cache) / bandwidth


def all_of_it_for_each(bandwidth, weights, cache, texts):
    return bandwidth / (weights + cache)


def without_the_cache(bandwidth, weights, cache, texts):
    return texts * bandwidth / weights


def one_cache(bandwidth, weights, cache, texts):
    return texts * bandwidth / (weights + cache)


def steps(bandwidth, weights, cache, texts):
    return bandwidth / (weights + texts * cache)


WRONG = {
    "probabilities": [multiplied, divided_after, not_used, no_softmax, squared],
    "attend_cached": [
        all_places,
        up_to_the_one_before,
        not_kept,
        no_root,
        the_value_alone_kept,
        over_the_heads,
    ],
    "cache_bytes": [keys_only, one_layer, not_in_bytes, length_squared],
    "tokens_a_second": [seconds, all_of_it_for_each, without_the_cache, one_cache, steps],
}
