"""Wrong answers to the exercises of lesson 13: likely mistakes, each of which has to be rejected."""

import numpy as np
from keras import ops


def padding_counts_too(vectors, rows):
    return ops.mean(vectors, axis=1)


def sum_in_place_of_mean(vectors, rows):
    counts = ops.cast(ops.not_equal(rows, 0), vectors.dtype)[:, :, None]
    return ops.sum(vectors * counts, axis=1)


def divided_by_all(vectors, rows):
    counts = ops.cast(ops.not_equal(rows, 0), vectors.dtype)[:, :, None]
    return ops.mean(vectors * counts, axis=1)


def along_the_width(vectors, rows):
    return ops.mean(vectors, axis=2)


def one_vector_for_all(vectors, rows):
    return ops.mean(vectors, axis=(0, 1))


def the_last_place(vectors, rows):
    return vectors[:, -1]


def with_numpy(vectors, rows):
    # Keras hands in placeholders when it describes a model, and NumPy cannot work with these.
    counts = (np.asarray(rows) != 0)[:, :, None]
    return (np.asarray(vectors) * counts).sum(axis=1) / counts.sum(axis=1)


def so_many_in_all(labels, each, seed):
    return np.random.default_rng(seed).permutation(len(labels))[:each]


def as_many_as_classes_by_chance(labels, each, seed):
    number = each * len(np.unique(labels))
    return np.random.default_rng(seed).permutation(len(labels))[:number]


def the_first_of_each(labels, each, seed):
    return np.concatenate([np.flatnonzero(labels == one)[:each] for one in np.unique(labels)])


def without_the_seed(labels, each, seed):
    mixed = np.random.default_rng().permutation(len(labels))
    return np.concatenate([mixed[labels[mixed] == one][:each] for one in np.unique(labels)])


def some_of_them_twice(labels, each, seed):
    draw = np.random.default_rng(seed)
    return np.concatenate([np.flatnonzero(labels == one)[[0] * each] for one in np.unique(labels)])[
        draw.permutation(each * len(np.unique(labels)))
    ]


def the_labels_themselves(labels, each, seed):
    return labels[np.random.default_rng(seed).permutation(len(labels))[: each * 3]] * 0


def ninety_of_a_hundred(first, second, draws):
    return np.percentile((first[draws] - second[draws]).mean(axis=1), [5, 95])


def mean_over_the_draws(first, second, draws):
    return np.percentile((first[draws] - second[draws]).mean(axis=0), [2.5, 97.5])


def other_sentences_for_the_second(first, second, draws):
    return np.percentile(first[draws].mean(axis=1) - second[draws[::-1]].mean(axis=1), [2.5, 97.5])


def the_lead_alone(first, second, draws):
    return first.mean() - second.mean()


def the_largest_and_the_smallest(first, second, draws):
    leads = (first[draws] - second[draws]).mean(axis=1)
    return np.array([leads.min(), leads.max()])


WRONG = {
    "pool": [
        padding_counts_too,
        sum_in_place_of_mean,
        divided_by_all,
        along_the_width,
        one_vector_for_all,
        the_last_place,
        with_numpy,
    ],
    "few": [
        so_many_in_all,
        as_many_as_classes_by_chance,
        the_first_of_each,
        without_the_seed,
        some_of_them_twice,
        the_labels_themselves,
    ],
    "lead": [
        ninety_of_a_hundred,
        mean_over_the_draws,
        other_sentences_for_the_second,
        the_lead_alone,
        the_largest_and_the_smallest,
    ],
}
