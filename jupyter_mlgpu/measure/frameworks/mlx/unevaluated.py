"""Finds arrays that MLX has not computed yet, and remembers which cell asked for them.

MLX computes an array only when its value is needed. `mlx.core.get_array_buffer_size` tells the two kinds
apart without computing anything: for an array that is not computed yet it raises ValueError (MLX's own tests
of memory expect it). Without this function, in versions before 0.32.3, nothing is said.

Arrays are remembered by weak references, so that they are freed as without this package.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

from jupyter_mlgpu.measure.frameworks.base import LazyWork
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.user_objects import is_a, is_one_of
from jupyter_mlgpu.record.sentence import Sentence, say, with_commas

#: The largest number of objects that are examined in the value of one variable.
LIMIT = 400
#: The largest number of variables that are remembered. Each costs 7 microseconds before each cell, most of it
#: for the exception (MLX 0.32.4).
_MOST = 8


class _Waiting(NamedTuple):
    """A variable with an array that is not computed yet, and the execution count of the cell that made it."""

    name: str
    cell: int | None
    array: weakref.ref[Any]


class UnevaluatedWork:
    """The work that cells left for later."""

    def __init__(self) -> None:
        self._waiting: list[_Waiting] = []

    def cell_begins(self) -> None:
        """Forget arrays that were computed after the last cell, or that no longer exist."""
        if self._waiting:
            self._waiting = [one for one in self._waiting if _is_waiting(one.array())]

    def cell_ended(self, values: Mapping[str, object], cell: int | None) -> LazyWork | None:
        """Return what a cell left for later, and what it computed of earlier cells' work; None if unknown.

        `values` are those that the cell's code names, `cell` is its execution count.
        """
        if not can_tell():
            return None
        waiting, computed = [], dict[int, list[str]]()
        for one in self._waiting:
            if _is_waiting(array := one.array()):
                waiting.append(one)
            elif array is not None and one.cell is not None:
                computed.setdefault(one.cell, []).append(one.name)
        known = {id(one.array()) for one in waiting}
        new = [
            _Waiting(name, cell, weakref.ref(array))
            for name, value in values.items()
            if (array := _first_waiting(value)) is not None and id(array) not in known
        ]
        self._waiting = [*waiting, *new][-_MOST:]
        return LazyWork(
            tuple(one.name for one in new),
            {number: _computed_note(number, names) for number, names in computed.items()},
        )


def _computed_note(cell: int, names: list[str]) -> Sentence:
    return say(
        "This cell also computed what cell [{cell}] had asked for ({names}). `mx.eval({first})` at the end "
        "of cell [{cell}] computes it there.",
        cell=f"{cell}",
        names=with_commas([say("`{name}`", name=name) for name in names]),
        first=names[0],
    )


def can_tell() -> bool:
    """Return True if this version of MLX tells computed arrays from others."""
    return getattr(module("mlx.core"), "get_array_buffer_size", None) is not None


def _is_waiting(array: Any) -> bool:
    """Return True if an array exists and is not computed yet."""
    if array is None:
        return False
    try:
        module("mlx.core").get_array_buffer_size(array)
    except ValueError:
        return True
    except Exception:  # such as on a Mac without a Metal device, where nothing can be computed
        return False
    return False


def _first_waiting(value: object) -> Any:
    """Return an array in a value that is not computed yet, None if there is none among the first ones."""
    array = module("mlx.core").array
    return next(
        (one for one in islice(_contained(value), LIMIT) if type(one) is array and _is_waiting(one)), None
    )


def _contained(value: Any) -> Iterator[Any]:
    """Yield a value, and what plain containers and MLX's modules, which are dicts, contain."""
    layer = getattr(module("mlx.nn"), "Module", None)
    remaining = [value]
    while remaining:
        one = remaining.pop()
        yield one
        if is_one_of(type(one), (list, tuple)):
            remaining.extend(islice(one, LIMIT))
        elif type(one) is dict or (layer is not None and is_a(one, layer)):
            # The storage of the dict itself: a module's class may define `values`.
            remaining.extend(islice(dict.values(one), LIMIT))
