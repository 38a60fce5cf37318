"""Lesson 09: hints and likely mistakes."""

from __future__ import annotations

import statistics
from typing import Any

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def first_epoch_counted(images: Any, seconds: Any) -> Any:
    return images / statistics.median(seconds)


def mean_for_median(images: Any, seconds: Any) -> Any:
    return images / statistics.mean(seconds[1:])


def all_together(images: Any, seconds: Any) -> Any:
    return images / sum(seconds[1:])


def upside_down(rate: Any, watts: Any) -> Any:
    return watts / rate


def multiplied(rate: Any, watts: Any) -> Any:
    return rate * watts


def batch_of_the_best(batches: Any, rates: Any) -> Any:
    return batches[list(rates).index(max(rates))]


def largest_batch(batches: Any, rates: Any) -> Any:
    return max(batches)


def seconds_an_image(batches: Any, seconds: Any) -> Any:
    each = (seconds[-1] - seconds[0]) / (batches[-1] - batches[0])
    return seconds[0] - batches[0] * each, each


def smallest_step(batches: Any, seconds: Any) -> Any:
    each = (seconds[-1] - seconds[0]) / (batches[-1] - batches[0])
    return seconds[0], 1 / each


def best_measured_rate(batches: Any, seconds: Any) -> Any:
    each = (seconds[-1] - seconds[0]) / (batches[-1] - batches[0])
    rates = [batch / took for batch, took in zip(batches, seconds, strict=True)]
    return seconds[0] - batches[0] * each, max(rates)


COACHING = {
    "images_per_second": coaching(
        hints=[
            say("Which epoch should not count, and which of the others speaks for all?"),
            say("The first epoch also compiles. A list without its first item is `seconds[1:]`."),
            say("The median is taken already: only give it the right epochs."),
        ],
        mistakes=[
            (say("You counted the first epoch, which also compiles."), first_epoch_counted),
            (
                say("You took the mean; one epoch that was disturbed pulls it up. Take the median."),
                mean_for_median,
            ),
            (say("You divided by all epochs together; `images` are those of one."), all_together),
        ],
    ),
    "images_per_joule": coaching(
        hints=[
            say("Write the units down: images a second, and joules a second."),
            say("In the quotient of the two, the seconds cancel."),
            say("Which of the two has to stand below, so that joules stand below?"),
        ],
        mistakes=[
            (say("That is joules for an image: you have it upside down."), upside_down),
            (say("You multiplied: more watts would then give more images."), multiplied),
        ],
    ),
    "large_enough": coaching(
        hints=[
            say("Not the best batch, but the smallest that is good enough."),
            say("Good enough is a share of the best rate."),
            say("Nine tenths are 0.9."),
        ],
        mistakes=[
            (
                say("You took the batch of the best rate; a smaller one may be nearly as fast."),
                batch_of_the_best,
            ),
            (say("You gave the largest batch."), largest_batch),
        ],
    ),
    "step_costs": coaching(
        hints=[
            say("Draw the seconds of a step over its batch: the points lie on a straight line."),
            say(
                "The line's slope is the seconds of one image. Where it meets batch 0 stands the fixed part."
            ),
            say("np.polyfit(batches, seconds, 1) gives the slope and the height at 0, in this order."),
        ],
        mistakes=[
            (say("The second number is seconds an image; the rate is one divided by it."), seconds_an_image),
            (say("Even the smallest batch has images in it: follow the line on to batch 0."), smallest_step),
            (
                say("You gave the best rate that was measured; with ever larger batches it rises further."),
                best_measured_rate,
            ),
        ],
    ),
}
