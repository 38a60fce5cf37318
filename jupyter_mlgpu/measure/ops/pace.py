"""How a profiled cell kept its device at work: gaps, copies, operations a second, and how long one took.

All of it is of the profiled run, in which Python is slower than in a light one: shares and counts say what
kind of work it was, and none of them is a timing.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.measure.ops.busy import DeviceBusy, length, union
from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.selftime import by_line, parents
from jupyter_mlgpu.record.reading import Reading, Scope, new_reading
from jupyter_mlgpu.record.sentence import say

#: Nanoseconds up to which an operation on the host mostly is its own start. An eager operation on one number
#: takes 2 to 10 µs with the profiler on (seen with PyTorch 2.13 and TensorFlow 2.19 on a CPU).
SHORT_NS = 20_000
#: How profilers name copies that stay on one device: work of the device's memory, and no transfer.
_ON_DEVICE = ("dtod", "device -> device", "devicetodevice", "d2d")


def readings(profile: Profile, devices: Sequence[DeviceBusy]) -> list[Reading]:
    """What a profile tells of the pace; nothing where it did not see all of the cell."""
    if not profile.complete or profile.end_ns <= profile.start_ns:
        return []
    found = [one for device in devices for one in _of_device(profile, device)]
    return found if profile.devices_unseen else [*found, *_of_host(profile, with_pace=not devices)]


def _of_device(profile: Profile, busy: DeviceBusy) -> list[Reading]:
    mine = [one for one in profile.events if one.plane == "device" and one.device == busy.device]
    apart = [one for one in mine if one.kind in ("kernel", "copy", "memset")]
    working = union((one.start_ns, one.end_ns) for one in apart if not _is_transfer(one))
    shares = {
        "device_gaps": busy.between_share,
        "device_copies": (busy.busy_ns - length(working)) / busy.window_ns,
    }
    count = busy.intervals
    return [
        *(_reading(profile, name, share, count, busy.device) for name, share in shares.items()),
        _reading(profile, "operation_rate", count / busy.window_ns * 1e9, count, busy.device),
        _reading(profile, "operation_length", busy.busy_ns / count / 1e9, count, busy.device),
    ]


def _is_transfer(event: Event) -> bool:
    """Whether it copies between a host and its device."""
    return event.kind == "copy" and not any(word in event.name.lower() for word in _ON_DEVICE)


def _of_host(profile: Profile, *, with_pace: bool) -> list[Reading]:
    """Of the host's threads; how many operations there were where no device has told it."""
    lines = [events for (plane, _, _), events in by_line(profile.events).items() if plane == "host"]
    outermost = [one for events in lines for one in _outermost(events)]
    if not outermost:
        return []
    window = profile.end_ns - profile.start_ns
    count = len(outermost)
    busiest = max(length(union((one.start_ns, one.end_ns) for one in events)) for events in lines)
    found = [_reading(profile, "host_operations", min(1.0, busiest / window), count)]
    if not profile.compiled:
        short = union((one.start_ns, one.end_ns) for one in outermost if one.duration_ns <= SHORT_NS)
        found.append(_reading(profile, "short_operations", min(1.0, length(short) / window), count))
    if with_pace:
        whole = sum(one.duration_ns for one in outermost)
        found.append(_reading(profile, "operation_rate", count / window * 1e9, count))
        found.append(_reading(profile, "operation_length", whole / count / 1e9, count))
    return found


def _outermost(events: Sequence[Event]) -> list[Event]:
    """Operations that no other one has started; a range of the user's is none."""
    operations = [one for one in events if one.type != "annotation"]
    outer = parents([(one.start_ns, one.end_ns) for one in operations])
    return [one for one, parent in zip(operations, outer, strict=True) if parent is None]


def _reading(profile: Profile, quantity: str, value: float, count: int, device: str | None = None) -> Reading:
    scope: Scope = "cell" if device is None else "device"
    how = say("{profiler}, profiled run", profiler=profile.profiler)
    return new_reading(quantity, value, scope, "profiler", count, device=device, detail=how)
