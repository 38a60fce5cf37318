"""Memory of the process, machine, container and devices at one moment, as the flight recorder stores it.

A sample comes in the middle of the user's cell. On Linux it therefore reads a few files that stay open, and
keeps the GIL meanwhile (`systemfile` says why). psutil reads the same file and returns the same figures.
The memory available without swapping is MemAvailable of /proc/meminfo (proc_meminfo(5)).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from jupyter_mlgpu.measure.probes import memory, oom
from jupyter_mlgpu.measure.probes.process_memory import STATM, process_memory, resident_in
from jupyter_mlgpu.measure.probes.systemfile import SystemFile
from jupyter_mlgpu.record.flight.flight_record import DeviceMemorySample, MemorySample, OomKills

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy

#: Seconds before the container's limit and its counters are looked up again, which takes milliseconds.
_LIMIT_HOLDS_S = 60.0
#: Size of the buffer for a control group's events file, in bytes.
_EVENTS = 1024
_KIB = 1024


class _Machine(NamedTuple):
    """Bytes of memory and swap. `used` is the memory that is not available without swapping."""

    used: int
    total: int
    swap_used: int
    swap_total: int


class _Group(NamedTuple):
    """A control group: the time of the look-up (s, Unix), its limit in bytes, and its counters' files."""

    at: float
    limit: int | None
    used: SystemFile | None
    killed: SystemFile | None

    def close(self) -> None:
        for file in (self.used, self.killed):
            if file is not None:
                file.close()


class MemorySamples:
    """Reads the memory of this process, the machine, the container and the devices."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus
        self._group: _Group | None = None
        self._meminfo = SystemFile("/proc/meminfo", 8192)
        self._statm = SystemFile(STATM, 128)
        self._vmstat = SystemFile("/proc/vmstat", oom.MOST)

    def sample(self, now: float, *, afresh: bool) -> MemorySample:
        """Return a sample taken at `now` (s, Unix).

        With `afresh` the container's limit, which hardly ever changes, may be looked up again.
        """
        machine = _machine(self._meminfo.read()) or _machine_by_psutil()
        group = self._group
        if group is None or (afresh and not 0 <= now - group.at < _LIMIT_HOLDS_S):
            group = self._group = self._found(now, machine.total)
        return MemorySample(
            at=now,
            process=self._process(),
            machine_used=machine.used,
            machine_total=machine.total,
            container_used=None if group.used is None else _number(group.used.read()),
            container_limit=group.limit,
            swap_used=machine.swap_used,
            swap_total=machine.swap_total,
            devices=tuple(self._devices()),
            # In every sample: a child that was killed a second before the kernel did not end the kernel.
            oom_kills=self._kills(group.killed),
        )

    def close(self) -> None:
        """Close all files."""
        for file in (self._meminfo, self._statm, self._vmstat):
            file.close()
        if self._group is not None:
            self._group.close()

    def _found(self, now: float, total: int) -> _Group:
        limit, counters = memory.tightest_limit(total), oom.counters()
        if self._group is not None:
            self._group.close()
        return _Group(
            now,
            None if limit is None else limit.total,
            None if limit is None else SystemFile(limit.used, 64),
            None if counters.group is None else SystemFile(counters.group, _EVENTS),
        )

    def _kills(self, of_group: SystemFile | None) -> OomKills:
        """Return the kills counted for the control group, or for the whole machine if it has no counter."""
        if of_group is not None:
            return OomKills(container=oom.count(of_group.read()))
        return OomKills(machine=oom.count(self._vmstat.read()))

    def _process(self) -> int:
        statm = self._statm.read()
        return resident_in(statm) if statm else process_memory()[0]

    def _devices(self) -> Iterable[DeviceMemorySample]:
        """Yield the memory of each GPU if something else has started NVML already."""
        gpus = self._gpus.known
        if gpus is None:
            return
        for gpu in gpus.gpus:
            now = gpus.nvml.memory(gpu.index).value
            if now is not None:
                yield DeviceMemorySample(gpu.label, now.used, now.total)


def _machine(meminfo: bytes) -> _Machine | None:
    """Parse /proc/meminfo. Returns None if a figure is missing, as on Linux before 3.14."""
    try:
        total, available, swap, swap_free = (
            int(meminfo[(start := meminfo.index(name) + len(name)) : meminfo.index(b"kB", start)]) * _KIB
            for name in (b"MemTotal:", b"MemAvailable:", b"SwapTotal:", b"SwapFree:")
        )
    except ValueError:
        return None
    return _Machine(total - available, total, swap - swap_free, swap)


def _machine_by_psutil() -> _Machine:
    import psutil

    machine, swap = memory.machine(), psutil.swap_memory()
    return _Machine(machine.used, machine.total, int(swap.used), int(swap.total))


def _number(text: bytes) -> int | None:
    return int(text) if text.strip().isdigit() else None
