"""What the CPU and the GPUs did when, in bins of equal width: the lanes of a cell's strip."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from jupyter_mlgpu.record.bounds import Most, Otherwise
from jupyter_mlgpu.record.decoding import Count, Measured

#: Bins of a lane, at most.
BINS = 240
#: A place in a list, by its character.
PLACES = "0123456789abcdefghijklmnopqrstuvwxyz"
#: Seconds under which a cell has no strip.
SHORTEST = 0.2
#: What a cell's thread did, by the letter of a bin; a space is time that was not sampled.
PYTHON, NATIVE, IMPORTING, COMPILING, WAITING, NOT_SAMPLED = "p", "n", "i", "c", "w", " "


#: A bin a character, as a browser reads them.
Bins = Annotated[str, Most(BINS), Otherwise("")]


#: Seconds that a browser takes for none where it cannot read them.
Seconds = Annotated[Measured, Otherwise(0)]


class Spent(Struct, frozen=True):
    """Seconds in which the cell's thread did one thing, by its letter."""

    did: str
    seconds: Seconds


class StripLine(Struct, frozen=True, omit_defaults=True):
    """A line of the cell, or of the cell with this execution count where that is another one."""

    line: Count
    cell: Count | None = None


class HostLane(Struct, frozen=True):
    """What the cell's thread did: in each bin of so many seconds what it did most, as a letter.

    `spent` are the sums over all samples, the most first; with the time not sampled they are the wall time.
    `ran` has for each bin the line that ran most, as the place in `lines` (`PLACES`); a space where it is not
    known.
    """

    seconds: Seconds
    did: Bins
    spent: tuple[Spent, ...] = ()
    ran: Bins = ""
    lines: tuple[StripLine, ...] = ()


class GpuLane(Struct, frozen=True):
    """What a GPU did of the cell's work: in each bin a digit, from 0 (nothing) to 9 (all of it).

    `kernels` and `copies` are the parts of a bin in which a kernel or set ran, and in which copies alone ran;
    `kernel_seconds` and `copy_seconds` their sums, which are the GPU's busy time. `longest` has for each bin
    the kernel that ran most there, as the place in `GpuWork.kernels` (`PLACES`); a space where it is another
    one.
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
    """The lanes of the cell with this number, which has run for so many `seconds` and goes on."""

    sequence: Count
    seconds: Measured
    host: HostLane | None
    gpus: tuple[DeviceLane, ...]
