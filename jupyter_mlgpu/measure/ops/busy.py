"""Busy and idle time of devices in a profile.

A device is busy while at least one kernel, copy or memory-set of it runs, on any stream: its time is the
union of their intervals, never their sum. It is idle for the rest of the window. The window is the time from
the cell's first line to its end, with the wait for the device and without the profiler's own start and stop.
A profiler slows Python but hardly the kernels. So the idle share of a light run is smaller than this one, and
cannot be derived from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_mlgpu.measure.ops.events import Profile

_AT_WORK = ("kernel", "copy", "memset")


@dataclass(frozen=True, slots=True)
class DeviceBusy:
    """One device in a window. All times are in nanoseconds.

    `gap_ns` is the idle time between the first and the last interval; `intervals` counts kernels, copies and
    memory-sets.
    """

    device: str
    busy_ns: int
    window_ns: int
    gap_ns: int
    intervals: int

    @property
    def idle_share(self) -> float:
        """The part of the window in which nothing ran, from 0 to 1."""
        return 1 - self.busy_ns / self.window_ns

    @property
    def between_share(self) -> float:
        """The part of the window that lies idle between the first and the last interval."""
        return self.gap_ns / self.window_ns


def union(intervals: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the intervals (start, end) in order, merged if they overlap or touch, without empty ones."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(intervals):
        if end <= start:
            continue
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def length(merged: Iterable[tuple[int, int]]) -> int:
    """Return the total length of merged intervals."""
    return sum(end - start for start, end in merged)


def device_busy(profile: Profile) -> tuple[DeviceBusy, ...]:
    """Return the busy time of each device that ran a kernel or a copy; other devices are not listed.

    The clocks of host and device are matched only to some microseconds. If intervals reach beyond the window,
    the window is extended to them.
    """
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in profile.events:
        if event.plane == "device" and event.kind in _AT_WORK:
            found[event.device].append((event.start_ns, event.end_ns))
    devices = []
    for device, intervals in sorted(found.items()):
        merged = union(intervals)
        if not merged:
            continue
        first, last = merged[0][0], merged[-1][1]
        busy = length(merged)
        window = max(profile.end_ns, last) - min(profile.start_ns, first)
        devices.append(DeviceBusy(device, busy, window, last - first - busy, len(intervals)))
    return tuple(devices)
