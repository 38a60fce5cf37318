"""JAX's arrays: those that live, and those of the user's that are committed to a device."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.misplaced_values import MisplacedValue, each

#: Live arrays up to which those of a cell are told from those of earlier ones: about 0.3 ms a cell.
MOST = 500


def live_arrays(platforms: Iterable[str]) -> list[Any] | None:
    """Every array of these platforms; None where looking at them would cost too much."""
    jax = module("jax")
    arrays: list[Any] = []
    for platform in platforms:
        arrays += jax.live_arrays(platform)
        if len(arrays) > MOST:
            return None
    return arrays


def committed(values: Mapping[str, object], names: Mapping[Any, str]) -> list[MisplacedValue]:
    """The arrays committed to one device that each value holds; `names` are the devices' short names.

    Arrays that are not committed go where the work goes, and those spread over devices are at home on
    all of them.
    """
    array = getattr(module("jax._src.array"), "ArrayImpl", None)
    found: list[MisplacedValue] = []
    for name, held, cut in each(values):
        parts: Counter[str] = Counter()
        for one in held:
            # Of exactly this type; private, as is that it is committed (seen working on 0.10.2).
            if type(one) is array and one._committed and len(on := one.devices()) == 1:
                parts[names.get(next(iter(on)), "another device")] += 1
        if parts:
            found.append(MisplacedValue(name, parts, None if type(values[name]) is array else "arrays", cut))
    return found
