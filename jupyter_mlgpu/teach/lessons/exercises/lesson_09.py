"""Lesson 09: images per second, images per joule, a large enough batch, and the cost of a step."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Arguments, Exercise


def images_per_second(images: int, seconds: Sequence[float]) -> float:
    """Return the images per second of several epochs, without the first one, which also compiles."""
    import statistics

    return images / statistics.median(seconds[1:])


def images_per_joule(rate: float, watts: float) -> float:
    """Return images per joule, from images per second and joules per second."""
    return rate / watts


def large_enough(batches: Sequence[int], rates: Sequence[float]) -> int:
    """Return the smallest batch that reaches at least nine tenths of the best rate."""
    best = max(rates)
    return min(batch for batch, rate in zip(batches, rates, strict=True) if rate >= 0.9 * best)


def step_costs(batches: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Return the fixed seconds of a step, and the images per second that no batch can exceed."""
    each, fixed = np.polyfit(batches, seconds, 1)
    return fixed, 1 / each


def _fresh_epochs(draw: random.Random) -> Arguments:
    usual = draw.uniform(0.5, 3)
    seconds = [usual * draw.uniform(6, 20), usual, usual * 1.1, usual * draw.uniform(2, 5)]
    later = seconds[1:]
    draw.shuffle(later)
    return {"images": draw.randint(20, 400), "seconds": [seconds[0], *later]}


def _fresh_rates(draw: random.Random) -> Arguments:
    best = draw.uniform(100, 900)
    knee = best * draw.uniform(0.91, 0.95)
    # The best rate is not that of the largest batch, as happens when memory becomes short.
    return {
        "batches": [4, 8, 16, 32, 64],
        "rates": [best * 0.2, best * draw.uniform(0.4, 0.85), knee, best, best * draw.uniform(0.91, 0.99)],
    }


def _fresh_steps(draw: random.Random) -> Arguments:
    fixed, each = draw.uniform(0.01, 0.2), draw.uniform(0.0005, 0.01)
    batches = sorted(draw.sample([4, 8, 16, 32, 64, 128, 256], 3))
    return {"batches": batches, "seconds": [fixed + batch * each for batch in batches]}


EXERCISES = (
    Exercise(
        name="images_per_second",
        task=say("return the images a second of the epoch in the middle, of those that count"),
        reference=images_per_second,
        # 100 images in 2 s. The first epoch compiled, and one was disturbed.
        example={"images": 100, "seconds": [9.0, 2.0, 5.0, 2.0]},
        fresh=_fresh_epochs,
    ),
    Exercise(
        name="images_per_joule",
        task=say("return how many images are trained with a joule"),
        reference=images_per_joule,
        example={"rate": 600.0, "watts": 200.0},
        fresh=lambda draw: {"rate": draw.uniform(50, 2000), "watts": draw.uniform(20, 400)},
    ),
    Exercise(
        name="large_enough",
        task=say("return the smallest batch with at least nine tenths of the best rate"),
        reference=large_enough,
        example={"batches": [1, 4, 16, 64, 256], "rates": [10.0, 35.0, 92.0, 99.0, 100.0]},
        fresh=_fresh_rates,
    ),
    Exercise(
        name="step_costs",
        task=say(
            "return two numbers, the seconds that a step costs whatever its batch, and the images a "
            "second that no batch can exceed"
        ),
        reference=step_costs,
        # A tenth of a second for every step, and 2 ms for every image.
        example={"batches": [8, 32, 128], "seconds": [0.116, 0.164, 0.356]},
        fresh=_fresh_steps,
    ),
)
