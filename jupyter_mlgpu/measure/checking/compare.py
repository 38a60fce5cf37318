"""Finds the largest error of a result beyond the one that its number type explains."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

What = Literal["value", "nan", "infinite", "finite", "shape"]


class Deviation(Struct, frozen=True):
    """The worst element of a wrong result: what was given, and what the reference has.

    `what`: an error too large, a NaN or an infinity that the reference has not, a number where the reference
    has NaN or an infinity, or another shape. `off` is the error, `explained` the largest one that the type
    explains; both None if they are not numbers.
    """

    what: What
    index: tuple[int, ...]
    given: str
    expected: str
    off: float | None
    explained: float | None
    wrong: int
    elements: int


def compare(given: Any, reference: Any, tolerance: Any, reach: Any = None) -> Deviation | None:
    """Return the worst element of `given` that differs from `reference` by more than `tolerance`, or None.

    All three are tensors on the CPU; `given` has the operation's own type. `reach` is the size of the largest
    number that was met on the way to each element: if the type's range is smaller, infinity and NaN are
    explained. A tolerance that is not a number explains everything.
    """
    import torch

    if given.shape != reference.shape:
        return Deviation(
            "shape",
            (),
            str(tuple(given.shape)),
            str(tuple(reference.shape)),
            None,
            None,
            1,
            max(1, given.numel()),
        )
    if not given.numel():
        return None
    if not (given.is_floating_point() or given.is_complex()):
        return _compare_whole(given, reference, tolerance)
    wide = torch.complex128 if given.is_complex() or reference.is_complex() else torch.float64
    ours, theirs = given.to(wide), reference.to(wide)
    tolerance = torch.nan_to_num(tolerance, nan=torch.inf, posinf=torch.inf).expand(ours.shape)
    most = torch.finfo(given.dtype).max
    far = theirs.abs() + tolerance > most
    if reach is not None:
        far = far | (reach > most)
    error = (ours - theirs).abs()
    finite = torch.isfinite(ours) & torch.isfinite(theirs)
    same = (ours == theirs) | (torch.isnan(ours) & torch.isnan(theirs))
    wrong = torch.where(finite, error > tolerance, ~same & torch.isfinite(tolerance))
    wrong &= ~(far & ~torch.isfinite(ours))
    if not wrong.any():
        return None
    excess = torch.where(finite, error / tolerance.clamp(min=torch.finfo(torch.float64).tiny), torch.inf)
    at = int(torch.where(wrong, excess, -1.0).flatten().argmax())
    here, there = ours.flatten()[at], theirs.flatten()[at]
    what: What = "value"
    if not bool(torch.isfinite(here)):
        what = "nan" if bool(torch.isnan(here)) else "infinite"
    elif not bool(torch.isfinite(there)):
        what = "finite"
    numbers = what == "value"
    return Deviation(
        what,
        _place(at, given.shape),
        _shown(here),
        _shown(there),
        float(error.flatten()[at]) if numbers else None,
        float(tolerance.flatten()[at]) if numbers else None,
        int(wrong.sum()),
        given.numel(),
    )


def _compare_whole(given: Any, reference: Any, tolerance: Any) -> Deviation | None:
    """Compare whole numbers and truth values, which are exact unless the input's rounding decides."""
    import torch

    wrong = given != reference
    if isinstance(tolerance, torch.Tensor) and tolerance.any():
        wrong &= (given.to(torch.float64) - reference.to(torch.float64)).abs() > tolerance
    if not wrong.any():
        return None
    at = int(wrong.flatten().to(torch.int8).argmax())
    here, there = given.flatten()[at], reference.flatten()[at]
    return Deviation(
        "value",
        _place(at, given.shape),
        _shown(here),
        _shown(there),
        abs(float(here) - float(there)),
        0.0,
        int(wrong.sum()),
        given.numel(),
    )


def _place(at: int, shape: Any) -> tuple[int, ...]:
    place = []
    for size in reversed(shape):
        place.append(at % size)
        at //= size
    return tuple(reversed(place))


def _shown(value: Any) -> str:
    number = value.item()
    return f"{number:.6g}" if isinstance(number, float | complex) else str(number)
