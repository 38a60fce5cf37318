"""What one GPU did in a cell: launches, copies by direction, and the kernels that took most time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Otherwise
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.strip import GpuLane, Seconds

#: Why a cell's GPU time is not known yet: the record is completed later.
STILL_AT_WORK = say("The GPU was still at work on this cell, or its records were not there yet.")


_Count = Annotated[Count, Otherwise(0)]


class CopySum(Struct, frozen=True):
    """All copies in one direction (`host-to-device`, ...): `seconds` is the sum of their times."""

    direction: str
    count: _Count
    bytes: _Count
    seconds: Seconds


class KernelSum(Struct, frozen=True):
    """All launches of one kernel: `seconds` is the sum of their times."""

    name: str
    count: _Count
    seconds: Seconds


class GpuWork(Struct, frozen=True):
    """What a GPU (`gpu:0`) did of the work that a cell launched.

    `launches` counts kernels, copies and sets; `kernel_seconds` is the sum over all kernels, which may
    overlap; `kernels` are those that took most, the longest first. `went_on` is for how many seconds the GPU
    went on after the cell's code had ended, where nobody waited for it. `lane` tells when it worked; None for
    a short cell. `earlier` is how many seconds passed, from the cell's beginning, until the GPU had ended the
    work of earlier cells, or the cell's code had ended.
    """

    device: str
    launches: _Count
    kernel_seconds: Seconds
    copies: tuple[CopySum, ...] = ()
    kernels: tuple[KernelSum, ...] = ()
    went_on: Measured = 0.0
    lane: GpuLane | None = None
    earlier: Measured = 0.0


class GpuFigures(NamedTuple):
    """Readings of `device_time`, one a GPU or one that says why it is not known, and what each GPU did."""

    readings: Sequence[Reading]
    work: tuple[GpuWork, ...]


def may_go_on(figures: GpuFigures) -> bool:
    """Return whether a GPU was given work, or it is not known whether it was."""
    return bool(figures.work) or any(one.value is None for one in figures.readings)
