"""One figure: a number with its unit, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu import plain
from jupyter_mlgpu.errors import RecordError


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in `unit`, or None with a reason that a student understands; never 0 for what is not known."""

    value: float | None
    unit: str
    why_missing: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.why_missing is None):
            raise RecordError(
                f"A figure in {self.unit} needs either a value or a reason why there is none: found value "
                f"{self.value!r} and reason {self.why_missing!r}."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise RecordError(f"A figure in {self.unit} should be a finite number, found {self.value!r}.")

    def times(self, factor: float, unit: str) -> Quantity:
        """This figure times a number, in another unit; the reason stays."""
        if self.value is None:
            return Quantity(None, unit, self.why_missing)
        return Quantity(self.value * factor, unit)


def unknown(unit: str, why: str) -> Quantity:
    """A figure that is not known, and why."""
    return Quantity(None, unit, why)


def from_json(data: object, where: str) -> Quantity:
    """A figure from JSON-ready data; raises RecordError."""
    table: Mapping[str, Any] = plain.table_of(data, where)
    return plain.build(Quantity, table, where)
