"""Lesson 14: shares of a batch, a joint gradient, the possible speed-up, and a ring all-reduce."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def shares(batch: int, engines: int) -> list[int]:
    """Return the number of images for each engine, as even as possible, the larger shares first."""
    each, left = divmod(batch, engines)
    return [each + 1 if engine < left else each for engine in range(engines)]


def together(gradients: Sequence[Any], images: Sequence[int]) -> Any:
    """Return one gradient from those of the engines, each the mean over its number of images."""
    weighted = [gradient * count for gradient, count in zip(gradients, images, strict=True)]
    return sum(weighted) / sum(images)


def speed_up(compute: float, engines: int, communication: float) -> float:
    """Return how many times as fast a step is on several engines as on one; times are in seconds."""
    return compute / (compute / engines + communication)


def ring_all_reduce(size: float, engines: int, latency: float, bandwidth: float) -> float:
    """Return the seconds of an all-reduce of `size` bytes in a ring; `bandwidth` is in bytes per second."""
    turns = 2 * (engines - 1)
    return turns * (latency + size / engines / bandwidth)


def _fresh_batch(draw: random.Random) -> Arguments:
    engines = draw.randint(3, 7)
    return {"batch": engines * draw.randint(3, 40) + draw.randint(2, engines - 1), "engines": engines}


def _fresh_gradients(draw: random.Random) -> Arguments:
    images = draw.sample(range(1, 60), 3)
    gradients = [np.array([draw.uniform(-1, 1) for _ in range(4)]) for _ in images]
    return {"gradients": gradients, "images": images}


def _fresh_step(draw: random.Random) -> Arguments:
    compute = draw.uniform(0.01, 0.5)
    return {
        "compute": compute,
        "engines": draw.randint(2, 16),
        "communication": compute * draw.uniform(0.05, 2),
    }


def _fresh_ring(draw: random.Random) -> Arguments:
    # Neither the latency nor the transfer time is negligible.
    engines, bandwidth = draw.randint(3, 16), draw.uniform(1e8, 1e10)
    size = draw.randint(1, 400) * 100_000
    latency = size / engines / bandwidth * draw.uniform(0.2, 2)
    return {"size": size, "engines": engines, "latency": latency, "bandwidth": bandwidth}


EXERCISES = (
    Exercise(
        name="shares",
        task=say(
            "return a list with the number of images for each engine: they add up to the "
            "batch, no two differ by more than one, and the larger shares come first"
        ),
        reference=shares,
        example={"batch": 10, "engines": 4},
        fresh=_fresh_batch,
    ),
    Exercise(
        name="together",
        task=say("return the gradient over all images, as if one engine had computed it"),
        reference=together,
        # Three images say 1, one says 5: the mean over the four is 2.
        example={"gradients": [np.array([1.0, 0.0]), np.array([5.0, 4.0])], "images": [3, 1]},
        fresh=_fresh_gradients,
    ),
    Exercise(
        name="speed_up",
        task=say("return how many times as fast a step is on several engines as on one"),
        reference=speed_up,
        # A step of 100 ms; two engines need 50 ms each, and 10 ms for their exchange.
        example={"compute": 0.1, "engines": 2, "communication": 0.01},
        fresh=_fresh_step,
    ),
    Exercise(
        name="ring_all_reduce",
        task=say("return the seconds that an all-reduce in a ring takes"),
        reference=ring_all_reduce,
        # Parts of 100,000 bytes: 1 ms each on the wire, and 1 ms until the first of their bytes arrives.
        example={"size": 400_000, "engines": 4, "latency": 0.001, "bandwidth": 1e8},
        fresh=_fresh_ring,
    ),
)
