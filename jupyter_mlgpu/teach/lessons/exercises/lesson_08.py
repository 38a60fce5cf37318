"""Lesson 08: bytes of activations, what to keep of a step, the peak of a batch, and checkpoints."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.checking import Answer, Arguments, Exercise


def activation_bytes(shapes: Sequence[Sequence[int]], batch: int) -> int:
    """Return the bytes of all layers' outputs for a batch, in float32; `shapes` are those for one picture."""
    numbers = sum(math.prod(shape) for shape in shapes)
    return 4 * numbers * batch


def worth_keeping(maps: Any) -> float:
    """Return the mean of the maps as a plain number, which holds no reference to them."""
    from keras import ops

    return float(ops.convert_to_numpy(maps).mean())


def peak_at(batch: int, measured: Sequence[tuple[int, float]]) -> float:
    """Return the peak memory of a batch, on the line through two measurements."""
    (small, low), (large, high) = measured
    each = (high - low) / (large - small)
    return low + each * (batch - small)


def most_kept(every: int, layers: int) -> int:
    """Return the most activations at once if each `every`-th is kept (Chen and others, 2016)."""
    kept = layers // every
    computed_again = every - 1
    return kept + computed_again


def number_and_kind(answer: Answer, arguments: Arguments) -> object:
    """Return the value that is kept, and its kind: a plain number or something that may hold more memory."""
    kept = answer(*arguments.values())
    if kept is None or kept is ...:
        return None
    plain = isinstance(kept, int | float | np.number)
    return {
        say("what is kept"): say("a plain number") if plain else say("a {kind}", kind=type(kept).__name__),
        say("its value"): kept,
    }


def for_each_spacing(answer: Answer, arguments: Arguments) -> object:
    """Return the answer for each spacing in `every`; None while it returns nothing."""
    spacings, layers = arguments.values()
    assert isinstance(spacings, list)
    found = [answer(one, layers) for one in spacings]
    return None if any(one is None or one is ... for one in found) else found


def _fresh_shapes(draw: random.Random) -> Arguments:
    side, filters = draw.randint(3, 9), draw.randint(2, 6)
    shapes = [[side, side, filters], [side - 1, side - 1, filters + 1], [draw.randint(3, 12)]]
    return {"shapes": shapes, "batch": draw.randint(2, 40)}


def _fresh_maps(draw: random.Random) -> Arguments:
    rows, columns = draw.randint(2, 5), draw.randint(2, 4)
    numbers = [[draw.uniform(0, 3) for _ in range(columns)] for _ in range(rows)]
    return {"maps": np.array(numbers, np.float32)}


def _fresh_peaks(draw: random.Random) -> Arguments:
    small, libraries, each = draw.randint(4, 40), draw.uniform(200, 900), draw.uniform(0.5, 8)
    large = small + draw.randint(5, 60)
    measured = [[one, round(libraries + each * one, 1)] for one in (small, large)]
    return {"batch": large + draw.randint(10, 200), "measured": measured}


def _fresh_layers(draw: random.Random) -> Arguments:
    return {"every": draw.sample([2, 3, 4, 6, 12], 3), "layers": 12 * draw.randint(2, 9)}


EXERCISES = (
    Exercise(
        name="activation_bytes",
        task=say("return the bytes of all numbers that the layers together produce for the batch"),
        reference=activation_bytes,
        # 2 * 3 numbers of one layer and 4 of the next: 10 a picture.
        example={"shapes": [[2, 3], [4]], "batch": 5},
        fresh=_fresh_shapes,
    ),
    Exercise(
        name="worth_keeping",
        task=say("return the mean of the maps, in a form that holds on to nothing else"),
        reference=worth_keeping,
        example={"maps": np.array([[1.0, 2, 3], [4, 5, 9]], np.float32)},
        fresh=_fresh_maps,
        run=number_and_kind,
    ),
    Exercise(
        name="peak_at",
        task=say("return the peak of the requested batch, on a line through the two that were measured"),
        reference=peak_at,
        # 500 without any picture, and 2 for each.
        example={"batch": 100, "measured": [[10, 520.0], [20, 540.0]]},
        fresh=_fresh_peaks,
    ),
    Exercise(
        name="most_kept",
        task=say("return how many activations there are at the same time, at the most"),
        reference=most_kept,
        # 25, 20 and 2 are kept; 3, 4 and 49 between two of them are computed again.
        example={"every": [4, 5, 50], "layers": 100},
        fresh=_fresh_layers,
        run=for_each_spacing,
    ),
)
