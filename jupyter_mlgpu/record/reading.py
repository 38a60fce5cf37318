"""One measured quantity, or the reason why it could not be measured."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.bounds import Otherwise, Unread
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.quantities import KNOWN
from jupyter_mlgpu.record.sentence import Sentence

Scope = Literal["cell", "process", "device", "machine"]
#: The kind of instrument; a reading's `detail` names the instrument. `simulated`: nothing was measured.
Source = Literal[
    "clock",
    "samples",
    "operating system",
    "profiler",
    "allocator",
    "NVML",
    "CUPTI",
    "IORegistry",
    "fdinfo",
    "RAPL",
    "Apple's energy model",
    "simulated",
    "other",
    "none",
]
APPLE: Source = "Apple's energy model"
IOREGISTRY: Source = "IORegistry"
FDINFO: Source = "fdinfo"
OPERATING_SYSTEM: Source = "operating system"


class Reading(Struct, frozen=True, omit_defaults=True):
    """One measured quantity, or the reason why it could not be measured.

    `unit` is s (seconds), bytes, J (joules), share (0 to 1), or one of those in `PROFILED` and `ROOFLINE`.
    `scope` is what the figure covers: this cell, the whole process, one device or the machine. `source` is
    the kind of instrument, and `detail` names the instrument and how it is read. `device` is the measured
    device in the instrument's own naming (`gpu:0`, `GPU 0 (NVIDIA H200)`), or None. `samples` is the number
    of measurements that the value is computed from. `uncertainty` is the half width, in the same unit, of the
    interval that contains the true value, as far as the counter's refresh interval and the times of reading
    determine it. The sensor's own error is not included. None: not stated.
    """

    # A later version may have more quantities. An unknown one is kept and shown.
    quantity: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{1,63}$")]
    # Bytes stay whole numbers, because 723369984 and 723369984.0 have different widths in a receipt.
    value: Measured | Count | None
    unit: Annotated[str, Meta(pattern="^[^\x00-\x1f\x7f-\x9f]{1,20}$"), Unread()]
    scope: Annotated[Scope, Otherwise("cell")]
    source: Annotated[Source, Unread()]
    samples: Annotated[Count, Unread()]
    why_missing: Annotated[Sentence | None, Unread()] = None
    uncertainty: Annotated[Measured | None, Unread()] = None
    device: Annotated[str | None, Unread()] = None
    detail: Annotated[Sentence | None, Unread()] = None

    def __post_init__(self) -> None:
        if self.uncertainty is not None and (
            self.value is None or not (self.uncertainty == 0 or _LEAST <= self.uncertainty <= 1e18)
        ):
            raise RecordError(
                f"The reading {self.quantity!r} needs a value for its uncertainty, which is 0, or at least "
                f"{_LEAST:g}: found value {self.value!r} and uncertainty {self.uncertainty!r}."
            )
        if (self.value is None) == (self.why_missing is None):
            raise RecordError(
                f"The reading {self.quantity!r} needs either a value or a reason why there is none: "
                f"found value {self.value!r} and reason {self.why_missing!r}."
            )

    @property
    def instrument(self) -> str:
        """A description of the instrument for people."""
        return self.detail or self.source


#: The smallest uncertainty that can be given, other than 0.
_LEAST = 1e-15


def new_reading(
    quantity: str,
    value: float,
    scope: Scope,
    source: Source,
    samples: int,
    *,
    uncertainty: float | None = None,
    device: str | None = None,
    detail: Sentence | None = None,
) -> Reading:
    """Return a reading with a value, in the unit of its quantity."""
    unit = KNOWN[quantity].unit
    return Reading(quantity, value, unit, scope, source, samples, None, uncertainty, device, detail)


def missing(
    quantity: str,
    why: Sentence,
    *,
    scope: Scope = "cell",
    source: Source = "none",
    detail: Sentence | None = None,
    device: str | None = None,
) -> Reading:
    """Return a reading without a value. `why` is the reason in words that a student understands."""
    return Reading(quantity, None, KNOWN[quantity].unit, scope, source, 0, why, device=device, detail=detail)
