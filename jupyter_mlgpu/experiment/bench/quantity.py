"""A figure: a number with its unit, or the reason why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Sentence

#: A number far enough from a float's limits that all results computed from it are finite.
Amount = Annotated[float, Meta(ge=0, le=1e30)]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in `unit`, or None with a reason that a student understands; never 0 for what is not known."""

    value: Amount | None
    unit: str
    why_missing: Sentence | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.why_missing is None):
            raise RecordError(
                f"A figure in {self.unit} needs either a value or a reason why there is none: found value "
                f"{self.value!r} and reason {self.why_missing!r}."
            )
        if self.value is not None and not math.isfinite(self.value):
            raise RecordError(f"A figure in {self.unit} should be a finite number, found {self.value!r}.")


def unknown(unit: str, why: Sentence) -> Quantity:
    """Return a figure that is not known, with the reason."""
    return Quantity(None, unit, why)
