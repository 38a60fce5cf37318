"""Memory of process, machine, container and devices at one moment, as a kernel's account has it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from jupyter_mlgpu.measure.probes import memory, oom
from jupyter_mlgpu.measure.probes.process import resident_set
from jupyter_mlgpu.record.accounts.account import DeviceLook, Look

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy


class MemoryLooks:
    """Reads memory. What hardly changes, as a limit does, is found out once a cell."""

    def __init__(self, gpus: Lazy[Gpus]) -> None:
        self._gpus = gpus
        self._limit: memory.GroupLimit | None = None
        self._counters: oom.OomCounters | None = None

    def look(self, now: float, *, afresh: bool) -> Look:
        """What there is and what is used at this moment (s, Unix); `afresh` for the first look of a cell."""
        import psutil

        machine, swap = memory.machine(), psutil.swap_memory()
        if afresh or self._counters is None:
            self._limit, self._counters = memory.tightest_limit(machine.total), oom.counters()
        container = None if self._limit is None else self._limit.read()
        return Look(
            at=now,
            process=resident_set()[0],
            machine_used=machine.used,
            machine_total=machine.total,
            container_used=None if container is None else container.used,
            container_limit=None if container is None else container.total,
            swap_used=int(swap.used),
            swap_total=int(swap.total),
            devices=tuple(self._devices()),
            oom_kills=self._counters.read(),
        )

    def _devices(self) -> Iterable[DeviceLook]:
        """The GPUs, where NVML has been started for another purpose."""
        gpus = self._gpus.known
        if gpus is None:
            return
        for gpu in gpus.gpus:
            now = gpus.nvml.memory(gpu.index).value
            if now is not None:
                yield DeviceLook(gpu.label, now.used, now.total)
