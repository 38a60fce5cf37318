"""Likely mistakes in lesson 09."""

import statistics


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
}
