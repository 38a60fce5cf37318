"""Lesson 06: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def bias_averaged(taken: Any, w: Any, d_result: Any) -> Any:
    return d_result @ w.T, taken.T @ d_result, d_result.mean(axis=0)


def bias_not_summed(taken: Any, w: Any, d_result: Any) -> Any:
    return d_result @ w.T, taken.T @ d_result, d_result


def divided_twice(taken: Any, w: Any, d_result: Any) -> Any:
    return d_result @ w.T, taken.T @ d_result / len(taken), d_result.sum(axis=0)


def wrong_sign(hidden: Any, d_hidden: Any) -> Any:
    return (1 + hidden * hidden) * d_hidden


def tanh_again(hidden: Any, d_hidden: Any) -> Any:
    return (1 - np.tanh(hidden) ** 2) * d_hidden


def incoming_left_out(hidden: Any, d_hidden: Any) -> Any:
    return 1 - hidden * hidden


def last_path_only(tape: Any, last: Any) -> Any:
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        slopes.update(zip(takes, rule(slopes[result]), strict=True))
    return slopes


def paths_multiplied(tape: Any, last: Any) -> Any:
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 1) * slope
    return slopes


def chained_twice(tape: Any, last: Any) -> Any:
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 0) + slope * slopes[result]
    return slopes


def mean_and_spread_fixed(taken: Any, d_result: Any) -> Any:
    return d_result / taken.std(axis=1, keepdims=True)


def spread_fixed(taken: Any, d_result: Any) -> Any:
    return (d_result - d_result.mean(axis=1, keepdims=True)) / taken.std(axis=1, keepdims=True)


def not_divided_by_spread(taken: Any, d_result: Any) -> Any:
    spread = taken.std(axis=1, keepdims=True)
    result = (taken - taken.mean(axis=1, keepdims=True)) / spread
    through_spread = result * (d_result * result).mean(axis=1, keepdims=True)
    return d_result - d_result.mean(axis=1, keepdims=True) - through_spread


COACHING = {
    "layer_back": coaching(
        hints=[
            say("Begin with the shapes: a slope has the shape of what it belongs to."),
            say(
                "For the weights there is only one product of the two that has the shape of "
                "w. The bias was added to every row, so its slope comes from every row."
            ),
            say("`taken.T @ something` gives [n, m]; and a sum over the rows is .sum(axis=0)."),
        ],
        mistakes=[
            (
                say(
                    "You took the mean over the rows for the bias; it was added to each, so its "
                    "slope is the sum."
                ),
                bias_averaged,
            ),
            (say("The bias is not summed: it has a slope for each row of data."), bias_not_summed),
            (
                say(
                    "You divided the slopes along the weights by the number of rows; the loss "
                    "has done that already."
                ),
                divided_twice,
            ),
        ],
    ),
    "tanh_back": coaching(
        hints=[
            say(
                "In the middle, where hidden is 0, a slope should go through as it is; at "
                "the end, where it is 1, nothing should."
            ),
            say("The slope of tanh is written in terms of its result, which you are given."),
            say("The chain rule multiplies: the slope of tanh times the slope that comes in."),
        ],
        mistakes=[
            (say("You wrote a plus where tanh has a minus."), wrong_sign),
            (say("You took tanh once more: hidden is its result already."), tanh_again),
            (say("You left out the slope that comes in."), incoming_left_out),
        ],
    ),
    "walk_back": coaching(
        hints=[
            say("Which operation was noted last? Its slope is the only one that is known at the start."),
            say(
                "`reversed(tape)` gives the operations from the last to the first. A name that has a slope "
                "already keeps it, and the new one is added."
            ),
            say("`slopes.get(name, 0)` is the slope so far, and 0 where there is none yet."),
        ],
        mistakes=[
            (
                say("A name that is taken twice keeps only one of its slopes; the other is overwritten."),
                last_path_only,
            ),
            (
                say("You multiplied the slopes of two paths; along a path they multiply, but paths add up."),
                paths_multiplied,
            ),
            (
                say("You multiplied by the slope at the result; the rule has done that already."),
                chained_twice,
            ),
        ],
    ),
    "normalize_back": coaching(
        hints=[
            say(
                "Make all numbers of a row larger by the same: the result stays. So what is the "
                "sum of its slopes?"
            ),
            say(
                "Through the mean comes the mean of the slopes, with a minus. Through the standard "
                "deviation comes the result, times the mean of slope times result, with a minus."
            ),
            say(
                "All three parts are divided by the spread: (d_result - its mean - result * the mean of "
                "d_result * result) / spread."
            ),
        ],
        mistakes=[
            (
                say(
                    "You took mean and standard deviation to be fixed; both depend on every number "
                    "of the row."
                ),
                mean_and_spread_fixed,
            ),
            (
                say(
                    "You took the standard deviation to be fixed; it depends on every number of the row, too."
                ),
                spread_fixed,
            ),
            (say("You did not divide by the standard deviation."), not_divided_by_spread),
        ],
    ),
}
