"""Lesson 12: hints, and likely mistakes by name."""

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
}
