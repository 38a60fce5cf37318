"""Wrong answers to the exercises of lesson 12: likely mistakes, each of which has to be rejected."""

import numpy as np


def all_of_them_masked(tokens, chosen, dice, others, mask):
    return np.where(chosen, mask, tokens)


def also_what_was_not_chosen(tokens, chosen, dice, others, mask):
    return np.where(dice < 0.8, mask, np.where(dice >= 0.9, others, tokens))


def twenty_percent_of_others(tokens, chosen, dice, others, mask):
    return np.where(chosen, np.where(dice < 0.8, mask, others), tokens)


def shares_the_wrong_way_round(tokens, chosen, dice, others, mask):
    shown = np.where(chosen & (dice < 0.8), others, tokens)
    return np.where(chosen & (dice >= 0.9), mask, shown)


def zero_in_place_of_mask(tokens, chosen, dice, others, mask):
    shown = np.where(chosen & (dice < 0.8), 0, tokens)
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
