"""One measured quantity, or the reason why it could not be measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from jupyter_mlgpu.record.bounds import Otherwise, Unread
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Sentence

Scope = Literal["cell", "process", "device", "machine"]
#: What kind of instrument took a reading; a reading's `detail` says which. `simulated`: nothing was measured.
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

#: Unit of each quantity a record holds, in the order in which records list them.
QUANTITIES: Mapping[str, str] = {
    "wall_time": "s",
    "cpu_time": "s",
    "device_time": "s",
    # Of a profiled cell alone: the part of it in which nothing ran on a device, from 0 to 1.
    "device_idle": "share",
    "peak_memory_process": "bytes",
    "peak_memory_allocator": "bytes",
    "peak_memory_device": "bytes",
    # In use when the cell had ended: what `growth.py` compares over the runs of a cell.
    "memory_process": "bytes",
    "memory_allocator": "bytes",
    "energy": "J",
}

#: Units of what a profiled cell's record holds beside them, where its profile tells it: shares are parts of
#: the profiled run, and none of it is a timing.
PROFILED: Mapping[str, str] = {
    # Idle, from the first to the last operation of a device.
    "device_gaps": "share",
    # Only copies between host and device ran.
    "device_copies": "share",
    # One thread of the host, the busiest, was in operations of the framework.
    "host_operations": "share",
    # Operations that took less than it takes to start one, or so (measure/ops/pace.py).
    "short_operations": "share",
    "operation_rate": "1/s",
    "operation_length": "s",
    # What its operations had to do: floating-point operations of one type of numbers; bytes that are read and
    # written, each once; and those of calls on more than a cache holds.
    "flops": "FLOP",
    "bytes_moved": "bytes",
    "bytes_of_large_calls": "bytes",
}

#: Units of a cell's place under its machine's roof (explain/limits/roofline.py), in light runs of its code.
ROOFLINE: Mapping[str, str] = {
    "flop_rate": "FLOP/s",
    "peak_flop_rate": "FLOP/s",
    "flop_share": "of the roof",
    "byte_rate": "bytes/s",
    "peak_byte_rate": "bytes/s",
    "byte_share": "of the roof",
}

#: Of all of them.
UNITS: Mapping[str, str] = {**QUANTITIES, **PROFILED, **ROOFLINE}


class Reading(Struct, frozen=True, omit_defaults=True):
    """One measured quantity, or the reason why it could not be measured.

    `unit` is s (seconds), bytes, J (joules), share (0 to 1), or one of those in `PROFILED` and `ROOFLINE`.
    `scope` says what the figure covers: this cell, the whole process, one device or the machine. `source` is
    the kind of instrument, `detail` which one and how it is read, in words. `device` is the device that the
    figure is of, as that instrument names it (`gpu:0`, `GPU 0 (NVIDIA H200)`); None where it is of none.
    `samples` is how many measurements the value rests on. `uncertainty` is the half width, in the same unit,
    of the interval around the value in which the true one lies as far as the counter's refresh and the
    moments of reading tell; the sensor's own error is not in it. None: not stated.
    """

    # A later version may have more quantities: one that is not known here is kept, and shown.
    quantity: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{1,63}$")]
    # Bytes stay whole numbers: 723369984 and 723369984.0 take different room in a receipt.
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
        """What measured it, in words for people."""
        return self.detail or self.source


#: The smallest uncertainty that is told in figures.
_LEAST = 1e-15


def missing(
    quantity: str,
    why: Sentence,
    *,
    scope: Scope = "cell",
    source: Source = "none",
    detail: Sentence | None = None,
    device: str | None = None,
) -> Reading:
    """A reading that could not be taken, with the reason in words a student understands."""
    return Reading(quantity, None, UNITS[quantity], scope, source, 0, why, device=device, detail=detail)
