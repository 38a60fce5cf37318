"""JAX's live arrays, and the user's arrays that are committed to a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue, contained_values

#: Up to this number of live arrays, a cell's new arrays are identified; that costs about 0.3 ms per cell.
MAX_LIVE_ARRAYS = 500


def live_arrays(platforms: Iterable[str]) -> list[Any] | None:
    """Return every array of these platforms; None if there are more than `MAX_LIVE_ARRAYS`."""
    jax = module("jax")
    arrays: list[Any] = []
    for platform in platforms:
        arrays += jax.live_arrays(platform)
        if len(arrays) > MAX_LIVE_ARRAYS:
            return None
    return arrays


def placed(values: Mapping[str, object], names: Mapping[Any, str]) -> list[PlacedValue]:
    """Return the values that contain arrays, with their number by device: where JAX computes with them.

    If any of the arrays is committed to a device, only those that are count.
    """
    return committed(values, names) or _arrays(values, names, lambda array: True)


def committed(values: Mapping[str, object], names: Mapping[Any, str]) -> list[PlacedValue]:
    """Return the values that contain arrays committed to one device, with their number by device.

    `names` are the devices' short names. Arrays that are not committed move to where they are used, and
    arrays spread over several devices belong to all of them.
    """
    return _arrays(values, names, lambda array: array._committed)


def _arrays(
    values: Mapping[str, object], names: Mapping[Any, str], counts: Callable[[Any], object]
) -> list[PlacedValue]:
    array = getattr(module("jax._src.array"), "ArrayImpl", None)
    found: list[PlacedValue] = []
    for name, contained, cut in contained_values(values):
        parts: Counter[str] = Counter()
        for one in contained:
            # Exactly this type. It is private, and so is `_committed` (verified on 0.10.2).
            if type(one) is array and counts(one) and len(on := one.devices()) == 1:
                parts[names.get(next(iter(on)), "another device")] += 1
        if parts:
            found.append(PlacedValue(name, parts, None if type(values[name]) is array else "arrays", cut))
    return found
