"""Conversion of JAX's profile (`jax.profiler.ProfileData`) to events.

A device's plane holds kernels and copies of its streams. On the host's plane, an operation is an event with
the statistic `hlo_op`: an operation of a compiled program that ran on the CPU, named after both. Compiling,
dispatching and the thread pools are left out.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from typing import Any

from jupyter_mlgpu.measure.ops import planes
from jupyter_mlgpu.measure.ops.events import Event, ProfileEvents, first_events

#: Names that XLA gives to operations; unlike those of functions, they have no spaces and no colons.
_OPERATION = re.compile(r"[\w.-]+")


def read(data: Any) -> ProfileEvents:
    """Return the events of a `ProfileData`."""
    with warnings.catch_warnings():
        # Under Python 3.12 and newer, JAX warns of types of its own at their first use. Where warnings are
        # errors, that aborts the process (seen with 0.11.2 and 0.12.0.1).
        warnings.simplefilter("ignore", DeprecationWarning)
        return first_events(_events(data))


def _events(data: Any) -> Iterator[Event]:
    begin_ns = _begin_ns(data)
    for plane in data.planes:
        device = planes.device_of(plane.name)
        if device is not None:
            for line in plane.lines:
                if planes.is_stream(line.name):
                    yield from _stream_events(line, device, begin_ns)
        elif plane.name == planes.HOST_PLANE:
            for number, line in enumerate(plane.lines):
                yield from _thread_events(line, f"{line.name} {number}", begin_ns)


def _thread_events(line: Any, thread: str, begin_ns: int) -> Iterator[Event]:
    for event in line.events:
        # Reading statistics takes most of the time, and most events are the runtime's own functions.
        if not _OPERATION.fullmatch(event.name):
            continue
        stats = dict(event.stats)
        if "hlo_op" in stats:
            operation = str(stats["hlo_op"])
            # XLA numbers operations within a program: only both names together are unique.
            name = f"{stats.get('hlo_module', 'program')}/{operation}"
            yield Event(name, _type(operation), "host", "host", thread, *_times(event, begin_ns))


def _stream_events(line: Any, device: str, begin_ns: int) -> Iterator[Event]:
    for event in line.events:
        kind = planes.kind_of(event.name)
        size = None
        if kind == "copy":
            size = planes.copied_bytes(str(dict(event.stats).get("memcpy_details", "")))
        times = _times(event, begin_ns)
        yield Event(event.name, kind, "device", device, line.name, *times, kind=kind, bytes=size)


def _type(name: str) -> str:
    """Return `fusion` for `fusion.12`: XLA numbers the instructions of a program."""
    stem, dot, number = name.rpartition(".")
    return stem if dot and number.isdecimal() else name


def _begin_ns(data: Any) -> int:
    for plane in data.planes:
        if plane.name == planes.ENVIRONMENT_PLANE:
            return int(dict(plane.stats).get(planes.START_STAT, 0))
    return 0


def _times(event: Any, begin_ns: int) -> tuple[int, int]:
    start, duration = planes.rounded_ns(round(event.start_ns * 1000), round(event.duration_ns * 1000))
    return begin_ns + start, duration
