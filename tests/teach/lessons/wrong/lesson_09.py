"""Likely mistakes in lesson 09."""

import statistics

import numpy as np


def first_epoch_counted(images, seconds):
    return images / statistics.median(seconds)


def mean_instead_of_median(images, seconds):
    return images / statistics.mean(seconds[1:])


def all_epochs_together(images, seconds):
    return images / sum(seconds[1:])


def seconds_per_image(images, seconds):
    return statistics.median(seconds[1:]) / images


def joules_per_image(rate, watts):
    return watts / rate


def multiplied(rate, watts):
    return rate * watts


def kilojoules(rate, watts):
    return 1000 * rate / watts


def batch_of_the_best_rate(batches, rates):
    return batches[rates.index(max(rates))]


def largest_batch(batches, rates):
    return max(batches)


def nine_tenths_of_the_largest_batch(batches, rates):
    return 0.9 * max(batches)


def rate_instead_of_batch(batches, rates):
    return min(rate for rate in rates if rate >= 0.9 * max(rates))


def the_other_way_round(batches, seconds):
    each, fixed = np.polyfit(batches, seconds, 1)
    return 1 / each, fixed


def seconds_of_an_image(batches, seconds):
    each, fixed = np.polyfit(batches, seconds, 1)
    return fixed, each


def the_smallest_step_as_fixed(batches, seconds):
    each, _ = np.polyfit(batches, seconds, 1)
    return seconds[0], 1 / each


def the_best_measured(batches, seconds):
    _, fixed = np.polyfit(batches, seconds, 1)
    return fixed, batches[-1] / seconds[-1]


def a_line_through_nothing(batches, seconds):
    return 0.0, batches[-1] / seconds[-1]


WRONG = {
    "images_per_second": [
        first_epoch_counted,
        mean_instead_of_median,
        all_epochs_together,
        seconds_per_image,
    ],
    "images_per_joule": [joules_per_image, multiplied, kilojoules],
    "large_enough": [
        batch_of_the_best_rate,
        largest_batch,
        nine_tenths_of_the_largest_batch,
        rate_instead_of_batch,
    ],
    "step_costs": [
        the_other_way_round,
        seconds_of_an_image,
        the_smallest_step_as_fixed,
        the_best_measured,
        a_line_through_nothing,
    ],
}
