"""Lesson 13: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def _counts(vectors: Any, rows: Any) -> Any:
    from keras import ops

    return ops.cast(ops.not_equal(rows, 0), vectors.dtype)[:, :, None]


def padding_counts(vectors: Any, rows: Any) -> Any:
    from keras import ops

    return ops.mean(vectors, axis=1)


def divided_by_all(vectors: Any, rows: Any) -> Any:
    from keras import ops

    return ops.mean(vectors * _counts(vectors, rows), axis=1)


def sum_for_mean(vectors: Any, rows: Any) -> Any:
    from keras import ops

    return ops.sum(vectors * _counts(vectors, rows), axis=1)


def without_the_seed(labels: Any, each: Any, seed: Any) -> Any:
    mixed = np.random.default_rng().permutation(len(labels))
    return np.concatenate([mixed[labels[mixed] == one][:each] for one in np.unique(labels)])


def not_mixed(labels: Any, each: Any, seed: Any) -> Any:
    return np.concatenate([np.flatnonzero(labels == one)[:each] for one in np.unique(labels)])


def ninety_percent(first: Any, second: Any, draws: Any) -> Any:
    return np.percentile((first[draws] - second[draws]).mean(axis=1), [5, 95])


def over_the_draws(first: Any, second: Any, draws: Any) -> Any:
    return np.percentile((first[draws] - second[draws]).mean(axis=0), [2.5, 97.5])


def first_alone(first: Any, second: Any, draws: Any) -> Any:
    return np.percentile(first[draws].mean(axis=1), [2.5, 97.5])


COACHING = {
    "pool": coaching(
        hints=[
            say("The vectors of padding are large on purpose. Do they show in your mean?"),
            say("`counts` is 0 where padding is: a product with it leaves out what should not count."),
            say("Sum `vectors * counts` over the places, and divide by how many count."),
        ],
        mistakes=[
            (say("The padding counts in your mean."), padding_counts),
            (say("You left the padding out of the sum, and divided by all places."), divided_by_all),
            (say("You took the sum, not the mean."), sum_for_mean),
        ],
    ),
    "few": coaching(
        hints=[
            say("The table says what is wrong with your draw: how many, twice, or the seed."),
            say("`mixed[labels[mixed] == one]` are the places of one class, in a random order."),
            say("The first `each` items of a list are `[:each]`."),
        ],
        mistakes=[
            (say("You did not use the seed: everybody would get other labels."), without_the_seed),
            (say("You took the first of each class: another seed changes nothing."), not_mixed),
        ],
    ),
    "lead": coaching(
        hints=[
            say("Each row of draws is one test set. How large is the lead in each of them?"),
            say("Take the same sentences of both methods, then their difference, and a mean for each row."),
            say("`np.percentile(leads, [2.5, 97.5])` leaves out 2.5 % of the draws at either end."),
        ],
        mistakes=[
            (say("You left out 5 % at either end: that leaves 90 % of the draws."), ninety_percent),
            (say("You took the mean over the draws: each draw has a lead of its own."), over_the_draws),
            (say("That is how often the first is right, not its lead over the second."), first_alone),
        ],
    ),
}
