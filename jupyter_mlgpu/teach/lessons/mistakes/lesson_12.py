"""Lesson 12: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def not_chosen_too(row: Any, chosen: Any, dice: Any, others: Any, mask: Any) -> Any:
    shown = np.where(chosen & (dice < 0.8), mask, row)
    return np.where(dice >= 0.9, others, shown)


def twenty_percent(row: Any, chosen: Any, dice: Any, others: Any, mask: Any) -> Any:
    shown = np.where(chosen & (dice < 0.8), mask, row)
    return np.where(chosen & (dice >= 0.8), others, shown)


def no_others(row: Any, chosen: Any, dice: Any, others: Any, mask: Any) -> Any:
    return np.where(chosen & (dice < 0.8), mask, row)


def divided_by_all(losses: Any, chosen: Any) -> Any:
    return (losses * chosen).mean()


def not_divided(losses: Any, chosen: Any) -> Any:
    return (losses * chosen).sum()


def all_places(losses: Any, chosen: Any) -> Any:
    return losses.mean()


def _centred(x: Any) -> Any:
    from keras import ops

    return x - ops.mean(x, axis=-1, keepdims=True)


def only_centred(x: Any) -> Any:
    return _centred(x)


def by_the_variance(x: Any) -> Any:
    from keras import ops

    return _centred(x) / (ops.var(x, axis=-1, keepdims=True) + 1e-6)


def not_centred(x: Any) -> Any:
    from keras import ops

    return x / ops.sqrt(ops.var(x, axis=-1, keepdims=True) + 1e-6)


def not_added(x: Any, norm: Any, attention: Any, feed_forward: Any) -> Any:
    x = x + attention(norm(x))
    return feed_forward(norm(x))


def not_normalized(x: Any, norm: Any, attention: Any, feed_forward: Any) -> Any:
    x = x + attention(norm(x))
    return x + feed_forward(x)


def normalized_afterwards(x: Any, norm: Any, attention: Any, feed_forward: Any) -> Any:
    x = x + attention(norm(x))
    return norm(x + feed_forward(x))


def as_it_was(continues: Any, chosen: Any) -> Any:
    return chosen


def only_to_the_right(continues: Any, chosen: Any) -> Any:
    grown = chosen.copy()
    for piece in range(1, len(grown)):
        grown[piece] |= continues[piece] and grown[piece - 1]
    return grown


def one_step(continues: Any, chosen: Any) -> Any:
    grown = chosen.copy()
    grown[1:] |= continues[1:] & chosen[:-1]
    grown[:-1] |= continues[1:] & chosen[1:]
    return grown


COACHING = {
    "disguise": coaching(
        hints=[
            say("Compare the places one by one: which die has led to a wrong token?"),
            say("Two things have to be so: the token is chosen, and its die is high enough."),
            say("Two conditions on arrays are joined with `&`, each in brackets of its own."),
        ],
        mistakes=[
            (say("You disguised tokens that were not chosen."), not_chosen_too),
            (say("You show others from 0.8 on: the 10 % that stay as they are are gone."), twenty_percent),
            (say("All others are missing: no token was drawn by chance."), no_others),
        ],
    ),
    "masked_loss": coaching(
        hints=[
            say("How many places count? By how many did you divide?"),
            say("`losses * chosen` is 0 where nothing counts; the sum of `chosen` is how many do."),
            say("A mean is a sum, divided by how many were summed."),
        ],
        mistakes=[
            (say("You divided by all places, not by those that were chosen."), divided_by_all),
            (say("You took the sum: divide it by how many were chosen."), not_divided),
            (say("You counted all places, not only the chosen ones."), all_places),
        ],
    ),
    "layer_norm": coaching(
        hints=[
            say("Do your vectors have the mean 0? And how far do their numbers lie from it?"),
            say("First take away the mean, then divide by the standard deviation."),
            say("The standard deviation is `ops.sqrt(variance)`; brackets belong around `x - mean`."),
        ],
        mistakes=[
            (say("The mean is 0 now, but the standard deviation is what it was."), only_centred),
            (
                say("You divided by the variance: the standard deviation is the square root of it."),
                by_the_variance,
            ),
            (say("You divided, but the mean is still there."), not_centred),
        ],
    ),
    "block": coaching(
        hints=[
            say("What does the line above do with x that yours does not?"),
            say("The second part is like the first: normalize, apply, and add to x."),
            say("It is the line above with feed_forward in the place of attention: `x + …(norm(x))`."),
        ],
        mistakes=[
            (say("You left out the residual connection: what came in is lost."), not_added),
            (say("What goes into feed_forward is not normalized."), not_normalized),
            (
                say("You normalized the sum, as BERT does (post-norm); here it is done before (pre-norm)."),
                normalized_afterwards,
            ),
        ],
    ),
    "whole_words": coaching(
        hints=[
            say("Which pieces stand in the same word? What could they have in common?"),
            say("Give each piece the number of its word: it grows where a word begins."),
            say("`np.cumsum(~continues)` counts words; np.isin finds the numbers of the chosen ones."),
        ],
        mistakes=[
            (say("Nothing has grown: these are the pieces that were chosen before."), as_it_was),
            (
                say("Your words grow to the right only: pieces before a chosen one are missing."),
                only_to_the_right,
            ),
            (say("Yours grow by one piece: a word may have more."), one_step),
        ],
    ),
}
