"""The work of GPUs in a cell, as sentences and tables."""

from __future__ import annotations

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.gpu_work import GpuWork
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.page.model import Table

_NAME = 60
#: Work after the end of the code is reported from this many seconds on, in the headline from this share on.
_TAIL_S, _TAIL = 0.001, 0.01


def busy(record: Record) -> Sentence | str:
    """Return `GPU busy 28 %`: the busiest GPU's share of the cell's duration, and how long it continued.

    It is `GPU busy about 28 %` if the driver counted it for the process. Empty if no GPU worked or it is
    unknown.
    """
    duration = record.duration
    times = [one for one in record.readings if one.quantity == "device_time" and one.value and one.samples]
    if record.mode == "profiled" or not duration or not times:
        return say("GPU time to come") if record.unfinished and record.asynchronous else ""
    busiest = max(times, key=lambda one: one.value or 0.0)
    device = "GPU" if len(times) == 1 else busiest.device or "GPU"
    share = units.percent(min(1.0, (busiest.value or 0.0) / duration))
    longest = max((one.went_on for one in record.gpu_work), default=0.0)
    if busiest.scope == "process":
        # A driver's count for the process is coarse. Recorded activity of a device is not.
        return say("{device} busy about {share}", device=device, share=share)
    if longest < max(_TAIL_S, _TAIL * duration):
        return say("{device} busy {share}", device=device, share=share)
    time = units.seconds(longest)
    return say("{device} busy {share}, went on for {time}", device=device, share=share, time=time)


def around(record: Record) -> list[Sentence]:
    """Return a sentence for each GPU that worked on earlier cells, or continued after the cell's code."""
    earlier = [
        say(
            "{device} was busy with earlier cells until {time} after the cell began.",
            device=one.device,
            time=units.seconds(one.earlier),
        )
        for one in record.gpu_work
        if one.earlier >= _TAIL_S
    ]
    return earlier + [
        say(
            "{device} went on for {time} after the cell's code had ended.",
            device=one.device,
            time=units.seconds(one.went_on),
        )
        for one in record.gpu_work
        if one.went_on >= _TAIL_S
    ]


def tables(record: Record) -> list[Table]:
    """Return for each GPU that worked its copies by direction and its longest kernels."""
    return [table for work in record.gpu_work for table in (_copies(work), _kernels(work)) if table.rows]


def _copies(work: GpuWork) -> Table:
    rows = tuple(
        (
            one.direction,
            f"{one.count:,}",
            units.size(one.bytes),
            units.seconds(one.seconds),
            units.decimal(one.bytes / one.seconds, "bytes/s") if one.seconds else "",
        )
        for one in work.copies
    )
    header = (say("Copies"), say("Count"), say("Size"), say("Time"), say("Rate"))
    return Table(header, rows, header[1:], say("Copies of {device}", device=work.device))


def _kernels(work: GpuWork) -> Table:
    rows = tuple(
        (
            visible(shorten(one.name, _NAME)),
            f"{one.count:,}",
            units.seconds(one.seconds),
            units.percent(one.seconds / work.kernel_seconds) if work.kernel_seconds else "",
        )
        for one in work.kernels
    )
    header = (say("Kernel"), say("Count"), say("Time"), say("Share"))
    caption = say(
        "Kernels of {device} that took most of {time}; {launches} launches",
        device=work.device,
        time=units.seconds(work.kernel_seconds),
        launches=work.launches,
    )
    return Table(header, rows, header[1:], caption)
