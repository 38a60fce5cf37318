"""Lesson 16: hints and likely mistakes."""

from __future__ import annotations

from typing import Any

import numpy as np

from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.coaching import coaching


def bits_for_bytes(parameters: Any, bits: Any, group: Any) -> Any:
    return parameters * (bits + 16 / group)


def without_scales(parameters: Any, bits: Any, group: Any) -> Any:
    return parameters * bits / 8


def a_scale_for_each_weight(parameters: Any, bits: Any, group: Any) -> Any:
    return parameters * (bits + 16) / 8


def with_sign(weights: Any, largest: Any) -> Any:
    scale = weights.max(axis=-1, keepdims=True) / largest
    return np.rint(weights / scale), scale


def one_for_all(weights: Any, largest: Any) -> Any:
    scale = np.abs(weights).max() / largest
    return np.rint(weights / scale), scale


def not_divided(weights: Any, largest: Any) -> Any:
    scale = np.abs(weights).max(axis=-1, keepdims=True)
    return np.rint(weights / scale), scale


def high_first(packed: Any) -> Any:
    return np.stack([packed >> 4, packed & 15], axis=-1).reshape(-1).astype("int8") - 8


def not_shifted(packed: Any) -> Any:
    return np.stack([packed & 15, packed & 240], axis=-1).reshape(-1).astype("int16") - 8


def around(packed: Any) -> Any:
    return np.stack([packed & 15, packed >> 4], axis=-1).reshape(-1) - np.uint8(8)


def adapter_alone(x: Any, w: Any, a: Any, b: Any) -> Any:
    return (x @ a) @ b


def frozen_alone(x: Any, w: Any, a: Any, b: Any) -> Any:
    return x @ w


def one_after_the_other(x: Any, w: Any, a: Any, b: Any) -> Any:
    return (x @ w) * ((x @ a) @ b)


def not_clipped(row: Any, largest: Any, shares: Any) -> Any:
    def error(share: Any) -> Any:
        scale = share * np.abs(row).max() / largest
        return ((np.rint(row / scale) * scale - row) ** 2).sum()

    return min(shares, key=error)


def always_the_largest(row: Any, largest: Any, shares: Any) -> Any:
    return shares[0]


COACHING = {
    "model_bytes": coaching(
        hints=[
            say("How many bits does a weight take, if its part of the scale is counted, too?"),
            say("A scale of 16 bits serves `group` weights: that is `16 / group` bits for each."),
            say("A byte has 8 bits: `parameters * (bits + 16 / group) / 8`."),
        ],
        mistakes=[
            (say("Those are bits: a byte has 8 of them."), bits_for_bytes),
            (say("You left out the scales: 16 bits for each group."), without_scales),
            (
                say("You gave each weight a scale of its own: one serves a whole group."),
                a_scale_for_each_weight,
            ),
        ],
    ),
    "quantize": coaching(
        hints=[
            say(
                "Which number of a row is the largest in size, whatever its sign? "
                "`keepdims=True` keeps the axis."
            ),
            say("`np.abs(weights).max(axis=-1, keepdims=True)` has it for each row."),
            say("That number has to become `largest`: divide by it."),
        ],
        mistakes=[
            (say("A negative weight may be the largest in size: `np.abs` takes the sign away."), with_sign),
            (say("That is one scale for all rows: each row has its own."), one_for_all),
            (say("All numbers are -1, 0 or 1: divide the scale by `largest`."), not_divided),
        ],
    ),
    "unpack": coaching(
        hints=[
            say("The lower four bits are there already. How do the upper four come down?"),
            say("`packed >> 4` moves all bits down by four; what was below is gone."),
            say("A byte has no sign: `0 - 8` is 248 there. `.astype('int8')` before the 8 is taken off."),
        ],
        mistakes=[
            (say("You took the upper four bits first."), high_first),
            (say("The upper four bits are still up there, worth 16 times as much."), not_shifted),
            (say("A byte knows no numbers below 0: turn it into int8 before you take 8 off."), around),
        ],
    ),
    "adapted": coaching(
        hints=[
            say("The sum has two parts: one that is frozen, and one that is trained."),
            say("`x @ a` is narrow: as many numbers for each row as the rank."),
            say("`x @ w` and `(x @ a) @ b` have the same shape: add them."),
        ],
        mistakes=[
            (say("The frozen part is missing: x times w."), adapter_alone),
            (say("The two small matrices are missing: nothing could be tuned."), frozen_alone),
            (say("The two parts are added, not multiplied."), one_after_the_other),
        ],
    ),
    "best_scale": coaching(
        hints=[
            say("For each share: make the scale, quantize, go back, and look at the error."),
            say("With a smaller scale the largest weight no longer fits: `np.clip` holds it at `largest`."),
            say("`min(shares, key=error)`, where `error` returns the sum of the squared differences."),
        ],
        mistakes=[
            (say("Numbers above `largest` do not fit into the bits: clip them."), not_clipped),
            (say("The usual scale is not always the best: try all shares."), always_the_largest),
        ],
    ),
}
