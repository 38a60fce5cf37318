"""Lesson 04: the rate of a chain of products, the roofline, the least time it allows, and its ridge."""

from __future__ import annotations

import random
from collections.abc import Sequence

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def teraflops(n: int, products: int, seconds: Sequence[float]) -> float:
    """Return the TFLOP/s of a chain of products [n, n] times [n, n], from the seconds of several runs."""
    import statistics

    operations = 2 * n**3 * products
    return operations / statistics.median(seconds) / 1e12


def roof(per_byte: float, peak: float, bandwidth: float) -> float:
    """Return the rate that a machine can reach at so many operations per byte (Williams and others, 2009)."""
    return min(peak, bandwidth * per_byte)


def least_seconds(flop: float, moved: float, peak: float, bandwidth: float) -> float:
    """Return the least seconds that the roof allows.

    `flop` is in FLOP, `moved` in bytes, `peak` in TFLOP/s, `bandwidth` in TB/s.
    """
    computing = flop / (peak * 1e12)
    moving = moved / (bandwidth * 1e12)
    return max(computing, moving)


def rows_at_the_ridge(width: int, peak: float, bandwidth: float) -> float:
    """Return the number of rows at which a layer of width x width reaches the ridge.

    `peak` is in TFLOP/s, `bandwidth` in TB/s.
    """
    ridge = peak / bandwidth  # operations per byte
    # 2 rows width² / (4 (width² + 2 rows width)) = ridge
    return 2 * ridge * width / (width - 4 * ridge)


def _fresh_chain(draw: random.Random) -> Arguments:
    usual = draw.uniform(0.01, 0.09)
    seconds = [usual * draw.uniform(0.9, 1.1) for _ in range(4)] + [usual * draw.uniform(4, 9)]
    draw.shuffle(seconds)
    return {"n": draw.choice([512, 1024, 2048]), "products": draw.randint(2, 90), "seconds": seconds}


def _fresh_machine(draw: random.Random) -> Arguments:
    peak, bandwidth = draw.uniform(1, 90), draw.uniform(0.1, 3)
    ridge = peak / bandwidth
    # On both sides of the ridge, so that neither limit alone is right for all.
    per_byte = [ridge * draw.uniform(0.1, 0.9), ridge * draw.uniform(1.2, 9), ridge * draw.uniform(0.1, 9)]
    return {"per_byte": per_byte, "peak": peak, "bandwidth": bandwidth}


def _fresh_work(draw: random.Random) -> Arguments:
    moved, peak, bandwidth = draw.uniform(1e8, 9e9), draw.uniform(1, 90), draw.uniform(0.1, 3)
    ridge = moved * peak / bandwidth
    # On both sides of the ridge, as above.
    flop = [ridge * draw.uniform(0.1, 0.9), ridge * draw.uniform(1.2, 9), ridge * draw.uniform(0.1, 9)]
    return {"flop": flop, "moved": moved, "peak": peak, "bandwidth": bandwidth}


def _fresh_layer(draw: random.Random) -> Arguments:
    peak, bandwidth = draw.uniform(1, 90), draw.uniform(0.1, 3)
    return {"width": round(peak / bandwidth * draw.uniform(5, 40)), "peak": peak, "bandwidth": bandwidth}


def at_each(answer: Answer, arguments: Arguments) -> object:
    """Return the answer for each number of the first argument; None while it returns nothing."""
    numbers, *others = arguments.values()
    assert isinstance(numbers, list)
    found = [answer(one, *others) for one in numbers]
    return None if any(one is None or one is ... for one in found) else found


EXERCISES = (
    Exercise(
        name="teraflops",
        task=say("return the rate of the run in the middle, in TFLOP/s"),
        reference=teraflops,
        # 2 * 1000³ * 50 operations in 0.1 s are 1 TFLOP/s. One run of the five was disturbed.
        example={"n": 1000, "products": 50, "seconds": [0.1, 0.09, 0.1, 0.7, 0.11]},
        fresh=_fresh_chain,
    ),
    Exercise(
        name="roof",
        task=say("return the rate that the machine can reach, in TFLOP/s"),
        reference=roof,
        # The memory allows 2, 20, 200 and 2,000: the peak is the limit from 50 operations per byte on.
        example={"per_byte": [1.0, 10.0, 100.0, 1000.0], "peak": 100.0, "bandwidth": 2.0},
        fresh=_fresh_machine,
        run=at_each,
    ),
    Exercise(
        name="least_seconds",
        task=say("return the seconds that are needed at the least, where computing and moving go on at once"),
        reference=least_seconds,
        # Moving takes 0.5 s throughout. Computing takes longer from 50 FLOP per byte on.
        example={"flop": [1e12, 1e13, 1e14, 1e15], "moved": 1e12, "peak": 100.0, "bandwidth": 2.0},
        fresh=_fresh_work,
        run=at_each,
    ),
    Exercise(
        name="rows_at_the_ridge",
        task=say("return the number of rows with which the layer is exactly at the ridge"),
        reference=rows_at_the_ridge,
        # The ridge is at 100 operations per byte; without the rows' own bytes it would be 200 rows.
        example={"width": 800, "peak": 100.0, "bandwidth": 1.0},
        fresh=_fresh_layer,
    ),
)
