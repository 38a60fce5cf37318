"""The work of one GPU in a cell: launches, copies by direction, and the longest kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NamedTuple

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Otherwise
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.strip import GpuLane, Seconds

#: The reason for a missing GPU busy time that is added to the record later.
STILL_AT_WORK = say("The GPU was still at work on this cell, or its records were not there yet.")


_Count = Annotated[Count, Otherwise(0)]


class CopySum(Struct, frozen=True):
    """All copies in one direction (`host-to-device`, ...) and the sum of their times in seconds."""

    direction: str
    count: _Count
    bytes: _Count
    seconds: Seconds


class KernelSum(Struct, frozen=True):
    """All launches of one kernel and the sum of their times in seconds."""

    name: str
    count: _Count
    seconds: Seconds


class GpuWork(Struct, frozen=True):
    """The work of a cell that ran on one GPU (`gpu:0`).

    `launches` counts kernels, copies and sets. `kernel_seconds` is the sum over all kernels, which may
    overlap. `kernels` are the longest kernels, the longest first. `went_on` is the number of seconds that the
    GPU continued after the cell's code had ended, if nothing synchronized with it. `lane` is the GPU's
    activity over time, None for a short cell. `earlier` is the number of seconds from the cell's beginning
    until the GPU had finished the work of earlier cells, or until the cell's code had ended.
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
    """Readings of `device_time` and each GPU's work.

    There is one reading per GPU, or a single one with the reason why it is unknown.
    """

    readings: Sequence[Reading]
    work: tuple[GpuWork, ...]


def may_go_on(figures: GpuFigures) -> bool:
    """Return True if work was launched on a GPU, or if it is unknown."""
    return bool(figures.work) or any(one.value is None for one in figures.readings)
