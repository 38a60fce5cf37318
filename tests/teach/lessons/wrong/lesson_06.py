"""Wrong answers to the exercises of lesson 06: likely mistakes, each of which has to be rejected."""

import numpy as np


def bias_not_summed(taken, w, d_result):
    return d_result @ w.T, taken.T @ d_result, d_result


def bias_averaged(taken, w, d_result):
    return d_result @ w.T, taken.T @ d_result, d_result.mean(axis=0)


def bias_summed_along_the_wrong_axis(taken, w, d_result):
    return d_result @ w.T, taken.T @ d_result, d_result.sum(axis=1)


def bias_summed_to_a_single_number(taken, w, d_result):
    return d_result @ w.T, taken.T @ d_result, d_result.sum()


def weights_with_the_wrong_sign(taken, w, d_result):
    return d_result @ w.T, -(taken.T @ d_result), d_result.sum(axis=0)


def weights_lying_on_their_side(taken, w, d_result):
    return d_result @ w.T, d_result.T @ taken, d_result.sum(axis=0)


def weights_averaged_over_the_rows(taken, w, d_result):
    return d_result @ w.T, taken.T @ d_result / len(taken), d_result.sum(axis=0)


def wrong_sign(hidden, d_hidden):
    return (1 + hidden * hidden) * d_hidden


def as_if_given_what_tanh_took(hidden, d_hidden):
    return (1 - np.tanh(hidden) ** 2) * d_hidden


def slope_of_tanh_alone(hidden, d_hidden):
    return 1 - hidden * hidden


def not_squared(hidden, d_hidden):
    return (1 - hidden) * d_hidden


def slope_of_the_sigmoid(hidden, d_hidden):
    return hidden * (1 - hidden) * d_hidden


def the_last_path_wins(tape, last):
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slope
    return slopes


def the_first_path_wins(tape, last):
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes.setdefault(name, slope)
    return slopes


def from_the_first_to_the_last(tape, last):
    slopes = {last: 1.0}
    for result, takes, rule in tape:
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 0) + slope
    return slopes


def paths_multiplied(tape, last):
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 1) * slope
    return slopes


def multiplied_by_the_slope_once_more(tape, last):
    slopes = {last: 1.0}
    for result, takes, rule in reversed(tape):
        for name, slope in zip(takes, rule(slopes[result]), strict=True):
            slopes[name] = slopes.get(name, 0) + slope * slopes[result]
    return slopes


def mean_and_spread_taken_as_fixed(taken, d_result):
    return d_result / taken.std(axis=1, keepdims=True)


def spread_taken_as_fixed(taken, d_result):
    return (d_result - d_result.mean(axis=1, keepdims=True)) / taken.std(axis=1, keepdims=True)


def along_the_wrong_axis(taken, d_result):
    return (d_result - d_result.mean(axis=0)) / taken.std(axis=1, keepdims=True)


def not_divided(taken, d_result):
    result = (taken - taken.mean(axis=1, keepdims=True)) / taken.std(axis=1, keepdims=True)
    through = result * (d_result * result).mean(axis=1, keepdims=True)
    return d_result - d_result.mean(axis=1, keepdims=True) - through


def normalized_once_more(taken, d_result):
    return (d_result - d_result.mean(axis=1, keepdims=True)) / d_result.std(axis=1, keepdims=True)


WRONG = {
    "layer_back": [
        bias_not_summed,
        bias_averaged,
        bias_summed_along_the_wrong_axis,
        bias_summed_to_a_single_number,
        weights_with_the_wrong_sign,
        weights_lying_on_their_side,
        weights_averaged_over_the_rows,
    ],
    "tanh_back": [
        wrong_sign,
        as_if_given_what_tanh_took,
        slope_of_tanh_alone,
        not_squared,
        slope_of_the_sigmoid,
    ],
    "walk_back": [
        the_last_path_wins,
        the_first_path_wins,
        from_the_first_to_the_last,
        paths_multiplied,
        multiplied_by_the_slope_once_more,
    ],
    "normalize_back": [
        mean_and_spread_taken_as_fixed,
        spread_taken_as_fixed,
        along_the_wrong_axis,
        not_divided,
        normalized_once_more,
    ],
}
