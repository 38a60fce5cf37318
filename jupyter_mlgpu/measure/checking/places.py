"""Compares operations that return places of values, such as `sort`: where values are equal, any is right."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.checking.compare import Deviation, compare
from jupyter_mlgpu.measure.checking.kinds import base_name
from jupyter_mlgpu.measure.checking.reference import NotComparableError, OperationCall


def compare_places(call: OperationCall, given: list[Any], reference: list[Any]) -> Deviation | None:
    """Return the first difference of values, or of the values at the places; None if there is none.

    `call` has the arguments in the operation's own type, and `given` and `reference` are on the CPU.
    """
    import torch

    name = base_name(call.operation)
    none = torch.zeros((), dtype=torch.float64, device="cpu")
    if name in ("argmax", "argmin", "argsort"):
        return compare(_at(call, given[0]), _at(call, reference[0]), none)
    if len(given) == 1:  # `max` of the whole tensor, or of two
        return compare(given[0], reference[0], none)
    values, places = given[0], given[1]
    ours, theirs = values, reference[0]
    if name == "topk" and not call.argument("sorted"):
        ours, theirs = (one.sort(call.argument("dim")).values for one in (ours, theirs))
    found = compare(ours, theirs, none) or compare(_at(call, places), values, none)
    if found is None and name == "sort":
        dim = call.argument("dim")
        found = compare(places.sort(dim).values, reference[1].sort(dim).values, none)
    return found


def _at(call: OperationCall, places: Any) -> Any:
    """Return the values of the input at these places."""
    name, values = base_name(call.operation), call.argument("self")
    if "pool" in name:
        dimensions = 1 if "1d" in name else 3 if "3d" in name else 2
        flat = values.flatten(-dimensions)
        return flat.gather(-1, places.flatten(-dimensions)).reshape(places.shape)
    try:
        dim = call.argument("dim")
    except KeyError:
        raise NotComparableError("an overload of its own") from None
    if not values.dim():
        return values.expand(places.shape)
    if dim is None:
        return values.flatten()[places.flatten()].reshape(places.shape)
    kept = places.dim() == values.dim()
    found = values.gather(dim, places if kept else places.unsqueeze(dim))
    return found if kept else found.squeeze(dim)
