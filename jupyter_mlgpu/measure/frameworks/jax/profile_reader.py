"""JAX's profile (`jax.profiler.ProfileData`) as events.

On a device's plane: kernels and copies of its streams. On the host's plane an operation is an event with the
statistic `hlo_op`, one of a compiled program that ran on the CPU, and is named after both; compiling,
dispatching and the thread pools are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jupyter_mlgpu.measure.ops import planes
from jupyter_mlgpu.measure.ops.events import Event, ProfileEvents, first_events


def read(data: Any) -> ProfileEvents:
    """What a `ProfileData` holds."""
    return first_events(_events(data))


def _events(data: Any) -> Iterator[Event]:
    begun_ns = _begun(data)
    for plane in data.planes:
        device = planes.device_of(plane.name)
        if device is not None:
            for line in plane.lines:
                if planes.is_stream(line.name):
                    yield from _of_stream(line, device, begun_ns)
        elif plane.name == planes.HOST_PLANE:
            for number, line in enumerate(plane.lines):
                yield from _of_thread(line, f"{line.name} {number}", begun_ns)


def _of_thread(line: Any, thread: str, begun_ns: int) -> Iterator[Event]:
    for event in line.events:
        stats = dict(event.stats)
        if "hlo_op" in stats:
            operation = str(stats["hlo_op"])
            # XLA numbers operations within a program: only both names together mean one.
            name = f"{stats.get('hlo_module', 'program')}/{operation}"
            yield Event(name, _type(operation), "host", "host", thread, *_times(event, begun_ns))


def _of_stream(line: Any, device: str, begun_ns: int) -> Iterator[Event]:
    for event in line.events:
        kind = planes.kind_of(event.name)
        size = None
        if kind == "copy":
            size = planes.copied_bytes(str(dict(event.stats).get("memcpy_details", "")))
        times = _times(event, begun_ns)
        yield Event(event.name, kind, "device", device, line.name, *times, kind=kind, bytes=size)


def _type(name: str) -> str:
    """`fusion` for `fusion.12`: XLA numbers the instructions of a program."""
    stem, dot, number = name.rpartition(".")
    return stem if dot and number.isdecimal() else name


def _begun(data: Any) -> int:
    for plane in data.planes:
        if plane.name == planes.ENVIRONMENT_PLANE:
            return int(dict(plane.stats).get(planes.START_STAT, 0))
    return 0


def _times(event: Any, begun_ns: int) -> tuple[int, int]:
    start, duration = planes.rounded_ns(round(event.start_ns * 1000), round(event.duration_ns * 1000))
    return begun_ns + start, duration
