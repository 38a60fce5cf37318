"""Wrong answers to the exercises of lesson 10: likely mistakes, each of which has to be rejected."""

import numpy as np


def cut(word, pieces, choose, mark="##"):
    found, start = [], 0
    while start < len(word):
        here = mark if start else ""
        fits = [end for end in range(start + 1, len(word) + 1) if here + word[start:end] in pieces]
        end = choose(fits, word)
        found.append(here + word[start:end])
        start = end
    return found


def the_shortest(word, pieces):
    return cut(word, pieces, lambda fits, word: min(fits))


def the_first_that_fits(word, pieces):
    return cut(word, pieces, lambda fits, word: fits[0])


def to_the_end_of_the_word(word, pieces):
    return cut(word, pieces, lambda fits, word: len(word))


def how_many_fit(word, pieces):
    return cut(word, pieces, lambda fits, word: len(word) - len(fits) + 1)


def without_the_mark(word, pieces):
    return cut(word, pieces, lambda fits, word: max(fits), mark="")


def with_chance(counts, by_chance):
    ratio = counts / counts.sum() / np.maximum(by_chance, 1e-12)
    return np.log(np.maximum(ratio, 1))


def shares(counts):
    return counts.sum(axis=1) / counts.sum()


def only_the_row(counts):
    return with_chance(counts, shares(counts)[:, None])


def only_the_column(counts):
    return with_chance(counts, shares(counts)[None, :])


def added(counts):
    return with_chance(counts, shares(counts)[:, None] + shares(counts)[None, :])


def not_a_table(counts):
    return with_chance(counts, shares(counts) * shares(counts))


def everybody_alike(counts):
    return with_chance(counts, np.full(counts.shape, 1 / counts.size))


def no_logarithm(counts):
    return np.maximum(counts / counts.sum() / np.outer(shares(counts), shares(counts)), 1)


def raised(counts, power, axis=0):
    found = counts.sum(axis=axis) ** power
    return found / found.sum()


def as_before(counts, power):
    return with_chance(counts, np.outer(shares(counts), shares(counts)))


def both_to_the_power(counts, power):
    return with_chance(counts, np.outer(raised(counts, power), raised(counts, power)))


def rows_to_the_power(counts, power):
    return with_chance(counts, np.outer(raised(counts, power), shares(counts)))


def not_shares_again(counts, power):
    return with_chance(counts, np.outer(shares(counts), shares(counts) ** power))


WRONG = {
    "split_word": [
        the_shortest,
        the_first_that_fits,
        to_the_end_of_the_word,
        how_many_fit,
        without_the_mark,
    ],
    "ppmi": [only_the_row, only_the_column, added, not_a_table, everybody_alike, no_logarithm],
    "smoothed_ppmi": [as_before, both_to_the_power, rows_to_the_power, not_shares_again],
}
