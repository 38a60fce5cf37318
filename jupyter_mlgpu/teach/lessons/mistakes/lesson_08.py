"""Lesson 08: hints and likely mistakes."""

from __future__ import annotations

import math
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def numbers_for_bytes(shapes: Any, batch: Any) -> Any:
    return sum(math.prod(shape) for shape in shapes) * batch


def one_picture(shapes: Any, batch: Any) -> Any:
    return 4 * sum(math.prod(shape) for shape in shapes)


def sides_added(shapes: Any, batch: Any) -> Any:
    return 4 * sum(sum(shape) for shape in shapes) * batch


def maps_themselves(maps: Any) -> Any:
    return maps


def sum_for_mean(maps: Any) -> Any:
    from keras import ops

    return float(ops.convert_to_numpy(maps).sum())


def largest_for_mean(maps: Any) -> Any:
    from keras import ops

    return float(ops.convert_to_numpy(maps).max())


def in_proportion(batch: Any, measured: Any) -> Any:
    (_, _), (large, high) = measured
    return high / large * batch


def own_pictures_twice(batch: Any, measured: Any) -> Any:
    (small, low), (large, high) = measured
    return low + (high - low) / (large - small) * batch


def not_divided(batch: Any, measured: Any) -> Any:
    (small, low), (_, high) = measured
    return low + (high - low) * (batch - small)


def kept_one_counted_twice(every: Any, layers: Any) -> Any:
    return layers // every + every


def kept_alone(every: Any, layers: Any) -> Any:
    return layers // every


def all_computed_at_once(every: Any, layers: Any) -> Any:
    return layers


COACHING = {
    "activation_bytes": coaching(
        hints=[
            say("Divide yours by what it should be: is the quotient 4, 8, or the batch?"),
            say("A layer's numbers are the product of its shape; all layers are kept, for all pictures."),
            say("Add `math.prod(shape)` over all shapes; then times the batch, times 4."),
        ],
        mistakes=[
            (say("You counted numbers, not bytes."), numbers_for_bytes),
            (say("You counted one picture; the batch has several."), one_picture),
            (say("You added the sides of a shape; its numbers are their product."), sides_added),
        ],
    ),
    "worth_keeping": coaching(
        hints=[
            say("As long as an array is kept, its memory is kept as well."),
            say("Copy the numbers out of the framework first, then make one of them."),
            say("`float(...)` around a mean gives a plain Python number."),
        ],
        mistakes=[
            (say("You kept the maps themselves: this is the leak."), maps_themselves),
            (say("You took the sum, not the mean."), sum_for_mean),
            (say("You took the largest, not the mean."), largest_for_mean),
        ],
    ),
    "peak_at": coaching(
        hints=[
            say("With no picture at all, the peak is not 0. Does yours know that?"),
            say(
                "One more picture takes the difference of the peaks, divided by the "
                "difference of the batches."
            ),
            say("Start from the smaller batch's peak, and add as many pictures as `batch` has more than it."),
        ],
        mistakes=[
            (
                say("You took the peak to be in proportion to the batch; a part of it is always there."),
                in_proportion,
            ),
            (
                say("You started from the smaller peak, and added all pictures: its own are in it already."),
                own_pictures_twice,
            ),
            (say("You did not divide by the difference of the batches."), not_divided),
        ],
    ),
    "most_kept": coaching(
        hints=[
            say(
                "Draw twelve layers in a row, and mark each third. What is there when the backward "
                "pass begins?"
            ),
            say("The kept ones are all there at first; of the others, only those between two kept ones."),
            say("`layers // every` are kept, and between two of them lie `every - 1`."),
        ],
        mistakes=[
            (
                say("You counted one activation twice: the last of a stretch is itself one that was kept."),
                kept_one_counted_twice,
            ),
            (say("You left out the activations that are computed again."), kept_alone),
            (
                say("You kept them all: those of other stretches are not there at that moment."),
                all_computed_at_once,
            ),
        ],
    ),
}
