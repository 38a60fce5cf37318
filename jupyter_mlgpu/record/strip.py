"""The activity of CPU and GPUs over time, in bins of equal width: the lanes of a cell's strip."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Most, Otherwise
from jupyter_mlgpu.record.decoding import Count, Measured

#: Most bins of a lane.
BINS = 240
#: Characters for the places in a list, one per place.
PLACES = "0123456789abcdefghijklmnopqrstuvwxyz"
#: Seconds below which a cell has no strip.
SHORTEST = 0.2
#: Letters for the activity of a cell's thread in a bin. A space is time that was not sampled.
PYTHON, NATIVE, IMPORTING, COMPILING, WAITING, NOT_SAMPLED = "p", "n", "i", "c", "w", " "


#: One character per bin, as browsers read them.
Bins = Annotated[str, Most(BINS), Otherwise("")]


#: Seconds, which a browser reads as 0 if they are invalid.
Seconds = Annotated[Measured, Otherwise(0)]


class Spent(Struct, frozen=True):
    """Seconds that the cell's thread spent on one activity, given by its letter."""

    did: str
    seconds: Seconds


class StripLine(Struct, frozen=True, omit_defaults=True):
    """A line of the cell, or of an earlier cell if its execution count is given."""

    line: Count
    cell: Count | None = None


class HostLane(Struct, frozen=True):
    """The activity of the cell's thread: one letter per bin for its most frequent activity.

    `seconds` is the width of a bin. `spent` are the sums over all samples, the largest first. Together with
    the time that was not sampled they are the wall time. `ran` has for each bin the line that ran most, as
    its place in `lines` (`PLACES`), or a space if it is unknown.
    """

    seconds: Seconds
    did: Bins
    spent: tuple[Spent, ...] = ()
    ran: Bins = ""
    lines: tuple[StripLine, ...] = ()


class GpuLane(Struct, frozen=True):
    """The activity of a GPU for the cell: for each bin a digit from 0 (none) to 9 (all of it).

    `kernels` and `copies` are the parts of a bin in which a kernel or set ran, and in which only copies ran.
    `kernel_seconds` and `copy_seconds` are their sums, which add up to the GPU busy time. `longest` has for
    each bin the kernel that ran most, as its place in `GpuWork.kernels` (`PLACES`), or a space for any other
    kernel.
    """

    seconds: Seconds
    kernels: Bins
    copies: Bins
    kernel_seconds: Seconds
    copy_seconds: Seconds
    longest: Bins = ""


class DeviceLane(Struct, frozen=True):
    """A GPU (`gpu:0`) and its lane."""

    device: str
    lane: GpuLane


class StripSoFar(Struct, frozen=True):
    """The lanes of a cell that is still running, and its run time in seconds so far."""

    sequence: Count
    seconds: Measured
    host: HostLane | None
    gpus: tuple[DeviceLane, ...]
