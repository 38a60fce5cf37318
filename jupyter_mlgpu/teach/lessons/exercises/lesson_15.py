"""Lesson 15: a temperature, attention with a cache, the cache's bytes, and tokens a second."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def probabilities(scores: Any, temperature: float) -> Any:
    """Return the probability of each token, from its score and a temperature."""
    powers = np.exp((scores - scores.max()) / temperature)
    return powers / powers.sum()


def attend_cached(query: Any, key: Any, value: Any, keys: Any, values: Any, place: int) -> Any:
    """Keep the key and the value of the token at `place`, and attend with its query to all up to it.

    `query`, `key` and `value` are `[heads, size]`, the kept `keys` and `values` `[heads, places, size]`.
    Returns `[heads, size]`.
    """
    keys[:, place], values[:, place] = key, value
    scores = keys[:, : place + 1] @ query[:, :, None] / query.shape[-1] ** 0.5
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return (powers * values[:, : place + 1]).sum(axis=1) / powers.sum(axis=1)


def cache_bytes(layers: int, width: int, length: int, bytes_each: int) -> int:
    """Return the bytes of the keys and values of `length` tokens; each number has `bytes_each` bytes."""
    return 2 * layers * width * length * bytes_each


def tokens_a_second(bandwidth: float, weights: float, cache: float, texts: int) -> float:
    """Return the tokens a second that a bandwidth in bytes a second allows, with `texts` written at once.

    `weights` are the bytes of all weights, `cache` the bytes of the keys and values of one text.
    """
    return texts * bandwidth / (weights + texts * cache)


def _kept_as_well(answer: Any, arguments: Arguments) -> object:
    """Call `answer`, and return its result with the keys and values as it left them."""
    mixed = answer(*arguments.values())
    return None if mixed is None or mixed is ... else (mixed, arguments["keys"], arguments["values"])


def _fresh_scores(draw: random.Random) -> Arguments:
    numbers = np.random.default_rng(draw.getrandbits(32))
    return {
        "scores": numbers.normal(size=draw.randint(4, 6)) * 2,
        "temperature": draw.choice([0.3, 0.5, 2.0, 3.0]),
    }


def _fresh_cache(draw: random.Random) -> Arguments:
    heads, size, places = draw.randint(2, 3), draw.choice([3, 5, 6]), draw.randint(6, 8)
    place = draw.randint(2, places - 2)
    numbers = np.random.default_rng(draw.getrandbits(32))
    keys, values = numbers.normal(size=(2, heads, places, size))
    keys[:, place:] = values[:, place:] = 0  # nothing stands there yet
    query, key, value = numbers.normal(size=(3, heads, size))
    return {"query": query, "key": key, "value": value, "keys": keys, "values": values, "place": place}


def _fresh_sizes(draw: random.Random) -> Arguments:
    return {
        "layers": draw.randint(12, 96),
        "width": 64 * draw.randint(12, 99),
        "length": draw.randint(500, 5000),
        "bytes_each": draw.choice([1, 2, 4]),
    }


def _fresh_speed(draw: random.Random) -> Arguments:
    return {
        "bandwidth": draw.uniform(5e10, 5e12),
        "weights": draw.uniform(1e9, 2e10),
        "cache": draw.uniform(1e8, 9e8),
        "texts": draw.randint(2, 32),
    }


EXERCISES = (
    Exercise(
        name="probabilities",
        task=say("return the probability of each token at this temperature"),
        reference=probabilities,
        # At the temperature 0.5 each score counts double: the probabilities are as 1, 4 and 16.
        example={"scores": np.log(np.array([1.0, 2.0, 4.0])), "temperature": 0.5},
        fresh=_fresh_scores,
    ),
    Exercise(
        name="attend_cached",
        task=say("keep the key and the value, and return what the query takes from the values so far"),
        reference=attend_cached,
        # The query is 0, so each of the three places so far gets a third, and the empty fourth nothing.
        example={
            "query": np.array([[0.0, 0.0]]),
            "key": np.array([[5.0, 6.0]]),
            "value": np.array([[30.0, 60.0]]),
            "keys": np.array([[[1.0, 2.0], [3.0, 4.0], [0.0, 0.0], [0.0, 0.0]]]),
            "values": np.array([[[3.0, 6.0], [6.0, 9.0], [0.0, 0.0], [0.0, 0.0]]]),
            "place": 2,
        },
        fresh=_fresh_cache,
        run=_kept_as_well,
    ),
    Exercise(
        name="cache_bytes",
        task=say("return the bytes of the keys and the values of a text of this length"),
        reference=cache_bytes,
        example={"layers": 10, "width": 100, "length": 1000, "bytes_each": 2},
        fresh=_fresh_sizes,
    ),
    Exercise(
        name="tokens_a_second",
        task=say("return the tokens a second, of all texts together, that the bandwidth allows"),
        reference=tokens_a_second,
        # The bandwidth reads the weights and one cache ten times a second.
        example={"bandwidth": 100e9, "weights": 9e9, "cache": 1e9, "texts": 1},
        fresh=_fresh_speed,
    ),
)
