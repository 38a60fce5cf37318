"""Rates of a profiled cell: gaps and copies of its device, operations a second, and their mean length.

All figures are of the profiled run, in which Python is slower than in a light one. Shares and counts show the
kind of work; none of them is a timing.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.measure.ops.busy import DeviceBusy, length, union
from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.measure.ops.selftime import by_line, parents
from jupyter_mlgpu.record.reading import Reading, Scope, new_reading
from jupyter_mlgpu.record.sentence import say

#: Nanoseconds up to which an operation on the host mostly consists of its own start. An eager operation on
#: one number takes 2 to 10 µs with the profiler on (measured with PyTorch 2.13 and TensorFlow 2.19 on a CPU).
SHORT_NS = 20_000
#: Profilers' words for copies within one device: they use the device's memory and are no transfer.
_ON_DEVICE = ("dtod", "device -> device", "devicetodevice", "d2d")


def readings(profile: Profile, devices: Sequence[DeviceBusy]) -> list[Reading]:
    """Return the rates in a profile as readings, none if it does not cover the whole cell."""
    if not profile.complete or profile.end_ns <= profile.start_ns:
        return []
    found = [reading for device in devices for reading in _of_device(profile, device)]
    return found if profile.devices_unseen else [*found, *_of_host(profile, with_rates=not devices)]


def _of_device(profile: Profile, busy: DeviceBusy) -> list[Reading]:
    events = [event for event in profile.events if event.plane == "device" and event.device == busy.device]
    intervals = [event for event in events if event.kind in ("kernel", "copy", "memset")]
    working = union((event.start_ns, event.end_ns) for event in intervals if not _is_transfer(event))
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
    """Return True if it copies between the host and a device."""
    return event.kind == "copy" and not any(word in event.name.lower() for word in _ON_DEVICE)


def _of_host(profile: Profile, *, with_rates: bool) -> list[Reading]:
    """Return readings of the host's threads; `with_rates` if no device has reported the rates."""
    lines = [events for (plane, _, _), events in by_line(profile.events).items() if plane == "host"]
    outermost = [event for events in lines for event in _outermost(events)]
    if not outermost:
        return []
    window = profile.end_ns - profile.start_ns
    count = len(outermost)
    busiest = max(length(union((event.start_ns, event.end_ns) for event in events)) for events in lines)
    found = [_reading(profile, "host_operations", min(1.0, busiest / window), count)]
    if not profile.compiled:
        short = union((event.start_ns, event.end_ns) for event in outermost if event.duration_ns <= SHORT_NS)
        found.append(_reading(profile, "short_operations", min(1.0, length(short) / window), count))
    if with_rates:
        whole = sum(event.duration_ns for event in outermost)
        found.append(_reading(profile, "operation_rate", count / window * 1e9, count))
        found.append(_reading(profile, "operation_length", whole / count / 1e9, count))
    return found


def _outermost(events: Sequence[Event]) -> list[Event]:
    """Return the operations that no other one has started. Ranges of the user's are left out."""
    operations = [event for event in events if event.type != "annotation"]
    outer = parents([(event.start_ns, event.end_ns) for event in operations])
    return [event for event, parent in zip(operations, outer, strict=True) if parent is None]


def _reading(profile: Profile, quantity: str, value: float, count: int, device: str | None = None) -> Reading:
    scope: Scope = "cell" if device is None else "device"
    how = say("{profiler}, profiled run", profiler=profile.profiler)
    return new_reading(quantity, value, scope, "profiler", count, device=device, detail=how)
