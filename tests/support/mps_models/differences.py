"""How the operations of a forecast and of a real run may differ, and why.

The real run is one on the emulated MPS device, where PyTorch takes its ways for `mps`. But its build for
Linux lacks the kernels that only one for a Mac has, and then takes an operation's parts.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple


class Reason(NamedTuple):
    """Operations that the forecast has in place of others that ran."""

    why: str
    forecast: frozenset[str]
    real: frozenset[str]


_PARTS = "MPS has one kernel (native_functions.yaml), a build for Linux runs its parts"
REASONS = (
    Reason(
        _PARTS,
        frozenset({"linear", "linear_backward"}),
        frozenset({"addmm", "mm", "t", "view", "_unsafe_view", "sum.dim_IntList"}),
    ),
    Reason(
        _PARTS,
        frozenset({"max_pool2d", "max_pool2d_backward"}),
        frozenset({"max_pool2d_with_indices", "max_pool2d_with_indices_backward"}),
    ),
    Reason(
        _PARTS,
        frozenset({"silu_backward", "mish_backward"}),
        frozenset(
            {
                *("sigmoid", "empty_like", "fill_.Scalar", "sub_.Tensor", "add.Scalar", "mul.Tensor"),
                *("softplus", "tanh"),
            }
        ),
    ),
    Reason(
        _PARTS,
        frozenset({"_lstm_mps", "lstm_mps_backward"}),
        frozenset(
            {
                *("unsafe_split.Tensor", "sigmoid_", "tanh_", "tanh", "sigmoid_backward", "tanh_backward"),
                *("add.Tensor", "add_.Tensor", "mul.Tensor", "stack", "cat", "unbind.int", "slice.Tensor"),
                *("select.int", "transpose.int", "view", "t", "addmm", "mm", "sum.dim_IntList"),
            }
        ),
    ),
    Reason(
        "one call of PyTorch for all devices, which runs its parts",
        frozenset({"_pack_padded_sequence_backward"}),
        frozenset({"empty.memory_format"}),
    ),
    Reason(
        "the list of fallbacks has the caller (MPSFallback.mm)",
        frozenset({"linalg_svd"}),
        frozenset({"_linalg_svd"}),
    ),
    Reason(
        "PyTorch calls another overload while it is observed (LossCTC.cpp)",
        frozenset({"_ctc_loss", "_ctc_loss_backward"}),
        frozenset({"_ctc_loss.Tensor", "_ctc_loss_backward.Tensor"}),
    ),
    Reason(
        "the steps of time that are left out are put back by views",
        frozenset({"clone", "_unsafe_view"}),
        frozenset(),
    ),
    Reason(
        "a counter of the optimizer, on the CPU in a program, was on the device here",
        frozenset({"_foreach_add_.Tensor"}),
        frozenset({"_foreach_add_.Scalar"}),
    ),
    Reason(
        "transformers leaves out a mask that is all ones, but not while it is traced (masking_utils.py)",
        frozenset(
            {
                *("bitwise_and.Tensor", "ge.Scalar", "index.Tensor", "new_ones", "where.self", "arange"),
                *("scalar_tensor", "unsqueeze"),
            }
        ),
        frozenset({"all"}),
    ),
    Reason(
        "the first step of an average copies the weights, which depends on a value",
        frozenset({"_foreach_lerp_.Scalar"}),
        frozenset(),
    ),
    Reason(
        "a number that is assigned to a part is copied there on the device, and filled in on a CPU",
        frozenset({"fill_.Tensor"}),
        frozenset({"scalar_tensor"}),
    ),
    Reason(
        "a number that is assigned becomes a tensor on the device first, or one on the CPU",
        frozenset(),
        frozenset({"scalar_tensor", "lift_fresh"}),
    ),
    Reason(
        "the gradient of what was changed in place goes through a view of the whole",
        frozenset(),
        frozenset({"as_strided", "new_zeros"}),
    ),
)


def unexplained(forecast: Collection[str], real: Collection[str]) -> set[str]:
    """Return the operations that only one of both has and no reason explains."""
    allowed: set[str] = set()
    for one in REASONS:
        met = ((one.forecast, forecast), (one.real, real))
        if not any(names and names.isdisjoint(found) for names, found in met):
            allowed |= one.forecast | one.real
    return (set(forecast) ^ set(real)) - allowed
