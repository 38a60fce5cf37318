"""Wrong answers to the exercises of lesson 12: likely mistakes, each of which has to be rejected."""

import numpy as np
from keras import ops


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


def only_the_mean(x):
    return x - ops.mean(x, axis=-1, keepdims=True)


def divided_by_the_variance(x):
    return only_the_mean(x) / (ops.var(x, axis=-1, keepdims=True) + 1e-6)


def the_mean_still_there(x):
    return x / ops.std(x, axis=-1, keepdims=True)


def over_the_tokens(x):
    return (x - ops.mean(x, axis=-2, keepdims=True)) / ops.sqrt(ops.var(x, axis=-2, keepdims=True) + 1e-6)


def no_residual(x, norm, attention, feed_forward):
    return feed_forward(norm(x + attention(norm(x))))


def no_norm(x, norm, attention, feed_forward):
    x = x + attention(norm(x))
    return x + feed_forward(x)


def norm_of_the_sum(x, norm, attention, feed_forward):
    x = x + attention(norm(x))
    return norm(x + feed_forward(x))


def attention_only(x, norm, attention, feed_forward):
    return x + attention(norm(x))


def both_at_once(x, norm, attention, feed_forward):
    return x + attention(norm(x)) + feed_forward(norm(x))


def nothing_more(continues, chosen):
    return chosen


def what_follows_a_chosen_piece(continues, chosen):
    return chosen | (continues & np.roll(chosen, 1))


def one_piece_each_way(continues, chosen):
    return chosen | (continues & np.roll(chosen, 1)) | (np.roll(continues, -1) & np.roll(chosen, -1))


def every_piece_that_continues(continues, chosen):
    return chosen | continues


WRONG = {
    "disguise": [
        all_of_them_masked,
        also_what_was_not_chosen,
        twenty_percent_of_others,
        shares_the_wrong_way_round,
        zero_in_place_of_mask,
    ],
    "masked_loss": [mean_over_all, divided_by_all, not_divided, mean_of_the_others],
    "layer_norm": [only_the_mean, divided_by_the_variance, the_mean_still_there, over_the_tokens],
    "block": [no_residual, no_norm, norm_of_the_sum, attention_only, both_at_once],
    "whole_words": [
        nothing_more,
        what_follows_a_chosen_piece,
        one_piece_each_way,
        every_piece_that_continues,
    ],
}
