"""Wrong answers to the exercises of lesson 12: likely mistakes, each of which has to be rejected."""

import numpy as np


def all_of_them_masked(row, chosen, dice, others, mask):
    return np.where(chosen, mask, row)


def also_what_was_not_chosen(row, chosen, dice, others, mask):
    return np.where(dice < 0.8, mask, np.where(dice >= 0.9, others, row))


def twenty_percent_of_others(row, chosen, dice, others, mask):
    return np.where(chosen, np.where(dice < 0.8, mask, others), row)


def shares_the_wrong_way_round(row, chosen, dice, others, mask):
    shown = np.where(chosen & (dice < 0.8), others, row)
    return np.where(chosen & (dice >= 0.9), mask, shown)


def zero_in_place_of_mask(row, chosen, dice, others, mask):
    shown = np.where(chosen & (dice < 0.8), 0, row)
    return np.where(chosen & (dice >= 0.9), others, shown)


def mean_over_all(losses, chosen):
    return losses.mean()


def divided_by_all(losses, chosen):
    return (losses * chosen).mean()


def not_divided(losses, chosen):
    return (losses * chosen).sum()


def mean_of_the_others(losses, chosen):
    return (losses * (1 - chosen)).sum() / max(1, (1 - chosen).sum())


WRONG = {
    "disguise": [
        all_of_them_masked,
        also_what_was_not_chosen,
        twenty_percent_of_others,
        shares_the_wrong_way_round,
        zero_in_place_of_mask,
    ],
    "masked_loss": [mean_over_all, divided_by_all, not_divided, mean_of_the_others],
}
