"""How long a device was at work, and how long it waited.

A device is busy while at least one kernel, copy or memory-set of it runs, on whatever stream: the union of
their intervals, never their sum. It is idle for the rest of the window, which is the time from the
cell's first line to its end, the wait for the device included and the profiler's own start and stop left out.
A profiler makes Python slower and kernels hardly so: the idle share of a light run is smaller, and not known
from this.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_mlgpu.measure.ops.events import Profile

_AT_WORK = ("kernel", "copy", "memset")


@dataclass(frozen=True, slots=True)
class DeviceBusy:
    """One device in a window: all times in nanoseconds.

    `gap_ns` is the idle time between the first and the last of its intervals; `intervals` counts
    kernels, copies and memory-sets.
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
    """The intervals (start, end) in order, merged where they overlap or touch; without those of no length."""
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
    """How long merged intervals are together."""
    return sum(end - start for start, end in merged)


def device_busy(profile: Profile) -> tuple[DeviceBusy, ...]:
    """Each device that ran a kernel or a copy; a device of which nothing was seen is not there.

    The clocks of host and device are matched to some microseconds only; where the intervals reach beyond
    the window, the window reaches as far.
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
