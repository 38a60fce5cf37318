"""Lesson 15: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def _softmax(scores: Any) -> Any:
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()


def multiplied(scores: Any, temperature: Any) -> Any:
    return _softmax(scores * temperature)


def divided_afterwards(scores: Any, temperature: Any) -> Any:
    return _softmax(scores) / temperature


def without_temperature(scores: Any, temperature: Any) -> Any:
    return _softmax(scores)


def _attended(query: Any, keys: Any, values: Any) -> Any:
    scores = keys @ query[:, :, None] / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (powers * values).sum(axis=1) / powers.sum(axis=1)


def empty_places_too(query: Any, key: Any, value: Any, keys: Any, values: Any, place: Any) -> Any:
    keys[:, place], values[:, place] = key, value
    return _attended(query, keys, values)


def without_itself(query: Any, key: Any, value: Any, keys: Any, values: Any, place: Any) -> Any:
    keys[:, place], values[:, place] = key, value
    return _attended(query, keys[:, :place], values[:, :place])


def nothing_kept(query: Any, key: Any, value: Any, keys: Any, values: Any, place: Any) -> Any:
    return _attended(query, keys[:, : place + 1], values[:, : place + 1])


def keys_alone(layers: Any, width: Any, length: Any, bytes_each: Any) -> Any:
    return layers * width * length * bytes_each


def one_layer(layers: Any, width: Any, length: Any, bytes_each: Any) -> Any:
    return 2 * width * length * bytes_each


def numbers_only(layers: Any, width: Any, length: Any, bytes_each: Any) -> Any:
    return 2 * layers * width * length


def weights_for_each(bandwidth: Any, weights: Any, cache: Any, texts: Any) -> Any:
    return bandwidth / (weights + cache)


def one_cache_for_all(bandwidth: Any, weights: Any, cache: Any, texts: Any) -> Any:
    return texts * bandwidth / (weights + cache)


def steps_a_second(bandwidth: Any, weights: Any, cache: Any, texts: Any) -> Any:
    return bandwidth / (weights + texts * cache)


COACHING = {
    "probabilities": coaching(
        hints=[
            say("A small temperature makes the differences between the scores larger."),
            say("Divide the scores by the temperature, before the softmax."),
            say("`softmax(...)` stands in the lesson; it turns scores into probabilities that add up to 1."),
        ],
        mistakes=[
            (say("You multiplied: at a low temperature yours becomes more random, not less."), multiplied),
            (
                say("You divided after the softmax: the probabilities no longer add up to 1."),
                divided_afterwards,
            ),
            (say("The temperature is not used."), without_temperature),
        ],
    ),
    "attend_cached": coaching(
        hints=[
            say("Three steps: keep key and value, compare the query with the keys so far, mix their values."),
            say("The places so far are `[:, : place + 1]`: what comes behind is still empty."),
            say(
                "The scores are `keys[:, : place + 1] @ query[:, :, None]`; the mixture is "
                "`(weights * values[:, : place + 1]).sum(axis=1)`."
            ),
        ],
        mistakes=[
            (
                say("Your query looks at the empty places as well: a score of 0 still gets weight."),
                empty_places_too,
            ),
            (say("Your token does not look at itself."), without_itself),
            (say("The new key and value are not kept: the place is still empty."), nothing_kept),
        ],
    ),
    "cache_bytes": coaching(
        hints=[
            say("How many numbers are kept for one token in one layer?"),
            say("A key and a value, each with `width` numbers, over all heads together."),
            say("Multiply: 2, the layers, the width, the length, and the bytes of one number."),
        ],
        mistakes=[
            (say("You counted the keys only: the values are kept as well."), keys_alone),
            (say("That is one layer: each layer has keys and values of its own."), one_layer),
            (say("You counted numbers, not bytes."), numbers_only),
        ],
    ),
    "tokens_a_second": coaching(
        hints=[
            say("A step writes one token of each text. How many bytes does it read?"),
            say(
                "The weights once, and each text's own cache: that many bytes take bytes / bandwidth seconds."
            ),
            say("Tokens a second are `texts` divided by the seconds of a step."),
        ],
        mistakes=[
            (
                say("You read the weights anew for each text: one reading serves all of them."),
                weights_for_each,
            ),
            (say("Each text has a cache of its own, and all of them are read."), one_cache_for_all),
            (say("These are steps a second: each step writes a token of every text."), steps_a_second),
        ],
    ),
}
