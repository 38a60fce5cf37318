"""Changes of an operation's arguments, by which its bounds are found, and how far they move the results."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jupyter_mlgpu.measure.checking.reference import NotComparableError, is_number


def is_inexact(leaf: Any, of_type: str) -> bool:
    import torch

    if isinstance(leaf, torch.Tensor):
        return bool(leaf.is_floating_point() or leaf.is_complex())
    return type(leaf) is float and math.isfinite(leaf) and ("float" in of_type or is_number(of_type))


def moved_at(place: int, step: float) -> Callable[[Any, str, int], Any]:
    """Return a change that multiplies one argument by 1 + step."""
    return lambda leaf, of_type, at: leaf * (1 + step) if at == place and is_inexact(leaf, of_type) else leaf


def moved_at_random(trial: int, up: float, down: float) -> Callable[[Any, str, int], Any]:
    """Return a change that multiplies each element of each tensor by 1 + up or 1 + down."""
    import torch

    generator = torch.Generator(device="cpu")  # the user's own random numbers stay as they are
    generator.manual_seed(trial)

    def moved(leaf: Any, of_type: str, place: int) -> Any:
        if not isinstance(leaf, torch.Tensor) or not is_inexact(leaf, of_type):
            return leaf
        chosen = torch.randint(0, 2, leaf.shape, generator=generator, device="cpu", dtype=torch.bool)
        return leaf * (1 + down + (up - down) * chosen.to(torch.float64))

    return moved


def absolute(leaf: Any, of_type: str, place: int) -> Any:
    import torch

    if isinstance(leaf, torch.Tensor):
        return leaf.abs() if leaf.is_floating_point() or leaf.is_complex() else leaf
    return abs(leaf) if "number" in of_type and isinstance(leaf, int | float | complex) else leaf


def ones(leaf: Any, of_type: str, place: int) -> Any:
    import torch

    if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex()):
        return torch.ones(leaf.shape, dtype=torch.float64, device="cpu")
    return leaf


def sizes_of(values: Any) -> Any:
    """Return absolute values in float64, also of truth values."""
    import torch

    return values.abs() if values.is_complex() else values.to(torch.float64).abs()


def change_of(new: Any, old: Any) -> Any:
    """Return how far results moved; 0 where one of them is no number.

    The length of a range may depend on rounding: then the common part counts.
    """
    import torch

    if new.shape != old.shape:
        if new.dim() != 1 or old.dim() != 1:
            raise NotComparableError("its shape depends on rounding")
        new = torch.cat([new, old[len(new) :]])[: len(old)]
    moved = (new.to(torch.complex128) - old.to(torch.complex128)).abs()
    return torch.where(torch.isfinite(moved), moved, 0.0)
