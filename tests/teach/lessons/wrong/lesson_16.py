"""Wrong answers to the exercises of lesson 16: likely mistakes, each of which has to be rejected."""

import numpy as np


def bits_in_place_of_bytes(parameters, bits, group):
    return parameters * (bits + 16 / group)


def no_scales(parameters, bits, group):
    return parameters * bits / 8


def scales_of_one_byte(parameters, bits, group):
    return parameters * (bits + 8 / group) / 8


def group_times_scale(parameters, bits, group):
    return parameters * (bits + 16 * group) / 8


def largest_with_its_sign(weights, largest):
    scale = weights.max(axis=-1, keepdims=True) / largest
    return np.rint(weights / scale), scale


def one_scale(weights, largest):
    scale = np.abs(weights).max() / largest
    return np.rint(weights / scale), scale


def of_the_columns(weights, largest):
    scale = np.abs(weights).max(axis=0, keepdims=True) / largest
    return np.rint(weights / scale), scale


def the_size_itself(weights, largest):
    scale = np.abs(weights).max(axis=-1, keepdims=True)
    return np.rint(weights / scale), scale


def one_more(weights, largest):
    scale = np.abs(weights).max(axis=-1, keepdims=True) / (largest + 1)
    return np.rint(weights / scale), scale


def a_mean(weights, largest):
    scale = np.abs(weights).mean(axis=-1, keepdims=True) / largest
    return np.rint(weights / scale), scale


def upper_first(packed):
    return np.stack([packed >> 4, packed & 15], axis=-1).reshape(-1).astype("int8") - 8


def not_moved_down(packed):
    return np.stack([packed & 15, packed & 240], axis=-1).reshape(-1).astype("int16") - 8


def below_zero_in_a_byte(packed):
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1) - np.uint8(8)


def all_lower_then_all_upper(packed):
    return np.concatenate([packed & 15, packed >> 4]).astype("int8") - 8


def from_0_to_15(packed):
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1)


def only_the_small_ones(x, w, a, b):
    return x @ a @ b


def only_the_large_one(x, w, a, b):
    return x @ w


def without_x(x, w, a, b):
    return x @ w + a @ b


def a_product_of_both(x, w, a, b):
    return (x @ w) * (x @ a @ b)


def the_usual_scale(row, largest, shares):
    return shares[0]


def smallest_scale(row, largest, shares):
    return min(shares)


def by_the_largest_error(row, largest, shares):
    def error(share):
        scale = share * np.abs(row).max() / largest
        return np.abs(np.clip(np.rint(row / scale), -largest, largest) * scale - row).max()

    return min(shares, key=error)


def without_clip(row, largest, shares):
    def error(share):
        scale = share * np.abs(row).max() / largest
        return ((np.rint(row / scale) * scale - row) ** 2).sum()

    return min(shares, key=error)


WRONG = {
    "model_bytes": [bits_in_place_of_bytes, no_scales, scales_of_one_byte, group_times_scale],
    "quantize": [
        largest_with_its_sign,
        one_scale,
        of_the_columns,
        the_size_itself,
        one_more,
        a_mean,
    ],
    "unpack": [
        upper_first,
        not_moved_down,
        below_zero_in_a_byte,
        all_lower_then_all_upper,
        from_0_to_15,
    ],
    "adapted": [only_the_small_ones, only_the_large_one, without_x, a_product_of_both],
    "best_scale": [the_usual_scale, smallest_scale, by_the_largest_error, without_clip],
}
