"""Memory of process, machine, container and devices at one moment, as a kernel's account has it.

A look comes in the middle of the user's cell, so on Linux it reads a few files that stay open, and keeps
the interpreter's lock meanwhile (`systemfile` says why). psutil's figures are the same, from the same file:
what can be had without swapping is MemAvailable of /proc/meminfo (proc_meminfo(5)).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from jupyter_mlgpu.measure.probes import memory, oom
from jupyter_mlgpu.measure.probes.resident_set import STATM, resident_in, resident_set
from jupyter_mlgpu.measure.probes.systemfile import SystemFile
from jupyter_mlgpu.record.flight.flight_record import DeviceMemorySample, MemorySample, OomKills

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy

#: Seconds for which a limit, and where it is counted, is not sought again: that takes milliseconds.
_HOLDS = 60.0
#: Bytes of a control group's file of events.
_EVENTS = 1024
_KIB = 1024


class _Machine(NamedTuple):
    """Bytes; `used` is what cannot be had without swapping."""

    used: int
    total: int
    swap_used: int
    swap_total: int


class _Group(NamedTuple):
    """Found at a moment (s, Unix): the limit of the control group in bytes, and the files of its counters."""

    at: float
    limit: int | None
    used: SystemFile | None
    killed: SystemFile | None

    def close(self) -> None:
        for file in (self.used, self.killed):
            if file is not None:
                file.close()


class MemorySamples:
    """Reads the memory of the process that makes it."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus
        self._group: _Group | None = None
        self._meminfo = SystemFile("/proc/meminfo", 8192)
        self._statm = SystemFile(STATM, 128)
        self._vmstat = SystemFile("/proc/vmstat", oom.MOST)

    def sample(self, now: float, *, afresh: bool) -> MemorySample:
        """What there is and what is used at this moment (s, Unix).

        `afresh`: there is time for seeking the container's limit again, which hardly ever changes.
        """
        machine = _machine(self._meminfo.read()) or _machine_by_psutil()
        group = self._group
        if group is None or (afresh and not 0 <= now - group.at < _HOLDS):
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
            # At every look: a child that was killed a second before the kernel is no cause of its death.
            oom_kills=self._kills(group.killed),
        )

    def close(self) -> None:
        """Leave no file open."""
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
        """Those in the control group; where it has no counter, those in the machine, with those of others."""
        if of_group is not None:
            return OomKills(container=oom.count(of_group.read()))
        return OomKills(machine=oom.count(self._vmstat.read()))

    def _process(self) -> int:
        statm = self._statm.read()
        return resident_in(statm) if statm else resident_set()[0]

    def _devices(self) -> Iterable[DeviceMemorySample]:
        """The GPUs, where NVML has been started for another purpose."""
        gpus = self._gpus.known
        if gpus is None:
            return
        for gpu in gpus.gpus:
            now = gpus.nvml.memory(gpu.index).value
            if now is not None:
                yield DeviceMemorySample(gpu.label, now.used, now.total)


def _machine(meminfo: bytes) -> _Machine | None:
    """Of the text of /proc/meminfo; None where a figure is not in it, as on Linux before 3.14."""
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
