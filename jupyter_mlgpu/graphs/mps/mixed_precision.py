"""Casts as `torch.autocast("mps")` does, while a step is traced on the CPU.

PyTorch keeps a list per device of the operations that are computed in 16 bits and in 32 (autocast_mode.cpp).
A build for Linux has the list of MPS, too, but it takes no tensors of the CPU. So the CPU's list is replaced
while a step is traced that uses mixed precision.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

Policy = Literal["lower", "promote", "float32"]

#: Operations that are computed in the type that was asked for, by autocast_mode.cpp of PyTorch 2.8 to 2.15.
LOWER = frozenset(
    {
        *("_convolution", "_convolution.deprecated", "_mps_convolution", "convolution", "conv_tbc"),
        *("conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d.input"),
        *(
            "conv_transpose3d.input",
            "prelu",
            "addmm",
            "addmv",
            "addr",
            "matmul",
            "einsum",
            "mm",
            "mv",
            "linear",
        ),
        *("addbmm", "baddbmm", "bmm", "chain_matmul", "linalg_multi_dot", "lstm_cell"),
        "scaled_dot_product_attention",
    }
)
#: Operations that are computed in the widest type of their inputs. The others in MPS's list use float32.
PROMOTED = frozenset(
    {
        *(
            "addcdiv",
            "addcmul",
            "atan2",
            "bilinear",
            "cross",
            "dot",
            "grid_sampler",
            "index_put",
            "tensordot",
        ),
        "scatter_add",
    }
)


def listed() -> dict[str, Policy]:
    """Return how this PyTorch casts for operations on MPS, by name with overload."""
    return {
        name: "lower" if name in LOWER else "promote" if name in PROMOTED else "float32"
        for name in _registered("AutocastMPS")
    }


def _registered(key: str) -> list[str]:
    from torch import _C

    has, start = _C._dispatch_has_kernel_for_dispatch_key, "aten::"
    names = _C._dispatch_get_all_op_names()
    return [one.removeprefix(start) for one in names if one.startswith(start) and has(one, key)]


def cast(policy: Policy, values: Any) -> Any:
    """Return arguments with their tensors cast as autocast does; float64 is left alone."""
    import torch
    from torch.utils._pytree import tree_leaves, tree_map

    def eligible(one: Any) -> bool:
        return isinstance(one, torch.Tensor) and one.is_floating_point() and one.dtype is not torch.float64

    to = torch.float32 if policy == "float32" else torch.get_autocast_dtype("cpu")
    if policy == "promote" and any(
        one.dtype is torch.float32 for one in tree_leaves(values) if eligible(one)
    ):
        to = torch.float32
    return tree_map(lambda one: one.to(to) if eligible(one) else one, values)


def casting(name: str, values: Any) -> Any:
    """Return the arguments of an operation of MPS alone, cast if mixed precision is on."""
    import torch

    if name in LOWER and torch.is_autocast_enabled("cpu"):
        return cast("lower", values)
    return values


@contextmanager
def list_of_mps() -> Iterator[None]:
    """Replace the list of the CPU by that of MPS in the block."""
    import torch

    library = torch.library.Library("aten", "IMPL", "AutocastCPU")
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCPU)
    policies = listed()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that a kernel is overridden
            for name in _registered("AutocastCPU"):
                if name not in policies:
                    library.impl(name, torch.library.fallthrough_kernel, allow_override=True)
            for name, policy in policies.items():
                library.impl(name, _kernel(name, policy, keys), allow_override=True)
        yield
    finally:
        library._destroy()


def _kernel(name: str, policy: Policy, keys: Any) -> Callable[..., Any]:
    import torch

    base, _, overload = name.partition(".")
    operation = getattr(getattr(torch.ops.aten, base), overload or "default")

    def kernel(*given: Any, **named: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(keys):
            given, named = cast(policy, (given, named))
            return operation(*given, **named)

    return kernel
