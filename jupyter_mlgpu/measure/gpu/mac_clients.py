"""The GPU clients of this process on a Mac, and the nanoseconds that the GPU's driver counts for each.

Several public programs agree on these names, none of which Apple documents: darwin-perf (adammikulis),
ActivityMonitor (wieslawsoltes), Stats (exelban). The clients stand below the services of class
`IOAccelerator`. Each tells in `IOUserClientCreator` which process has made it ("pid 123, python3.12", the
name cut to 16 characters), and in `AppUsage` a list of dictionaries with `accumulatedGPUTime`, one for each
API; drivers of Intel's and AMD's GPUs have `accumulatedGPUTime` at the client itself. Not yet run on a Mac.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from jupyter_mlgpu.measure.gpu.gpu_clients import CounterError, GpuClient
from jupyter_mlgpu.measure.gpu.ioregistry import IoRegistry, Registry
from jupyter_mlgpu.record.reading import IOREGISTRY
from jupyter_mlgpu.record.sentence import Sentence, say

ACCELERATOR = "IOAccelerator"
DETAIL = say("macOS's count of this process's GPU time (IORegistry), coarse")
NOT_USED = say("This process has not used the GPU, as far as macOS tells.")
NOT_COUNTED = say("The driver of this Mac's GPU counts no GPU time of processes.")

_TIME = "accumulatedGPUTime"
_CREATOR = re.compile(r"pid (\d+)(?:,|$)")


class MacClients:
    """The clients that this process has opened, remembered between searches."""

    source = IOREGISTRY
    detail = DETAIL

    def __init__(self, load: Callable[[], Registry] = IoRegistry, pid: Callable[[], int] = os.getpid) -> None:
        self._load = load
        self._pid = pid
        self._registry: Registry | None = None
        self._pid_then = 0
        #: This process's clients by their number: the entry, and the GPU's name.
        self._own: dict[int, tuple[int, str]] = {}
        #: The numbers of other processes' clients.
        self._others: set[int] = set()

    def read(self, search: bool) -> Sequence[GpuClient]:
        """Return this process's clients; without `search`, those known already that are still there."""
        if self._registry is None:
            self._registry = self._load()
        if self._pid() != self._pid_then:  # a forked child has none of its parent's entries
            self._own, self._others, self._pid_then = {}, set(), self._pid()
        if search:
            self._search(self._registry)
        found = []
        for number, (entry, gpu) in self._own.items():
            counted = _nanoseconds(self._registry, entry)
            if counted is not None:
                # Clients work at once, as engines do, so each is an engine of its own.
                found.append(GpuClient(gpu, str(number), {str(number): counted}))
        return found

    def why_none(self, clients: Sequence[GpuClient]) -> Sentence | None:
        """Return why these clients tell no GPU time; None where they may."""
        if clients:
            return None
        return NOT_COUNTED if self._own else NOT_USED

    def close(self) -> None:
        """Release the entries that are remembered."""
        if self._registry is not None and self._pid() == self._pid_then:
            for entry, _ in self._own.values():
                self._registry.release(entry)
        self._own, self._others = {}, set()

    def _search(self, registry: Registry) -> None:
        own: dict[int, tuple[int, str]] = {}
        others: set[int] = set()
        accelerators = registry.services(ACCELERATOR)
        try:
            names = gpu_names(registry, accelerators)
            for accelerator, gpu in zip(accelerators, names, strict=True):
                for entry in registry.below(accelerator):
                    number = registry.entry_id(entry)
                    if number in self._own:
                        own[number] = self._own[number]
                    elif number not in self._others and self._is_own(registry, entry):
                        own[number] = (entry, gpu)
                        continue
                    else:
                        others.add(number)
                    registry.release(entry)  # an entry that is remembered has a reference from before
        finally:
            for accelerator in accelerators:
                registry.release(accelerator)
        for number in self._own.keys() - own.keys():
            registry.release(self._own[number][0])
        self._own, self._others = own, others

    def _is_own(self, registry: Registry, entry: int) -> bool:
        return creator(registry.read(entry, "IOUserClientCreator")) == self._pid_then


def gpu_names(registry: Registry, accelerators: Sequence[int]) -> list[str]:
    """Return the names of the GPUs: as frameworks call a Mac's only one, else with the model."""
    if len(accelerators) == 1:
        return ["gpu:0"]
    models = [registry.read(one, "model") for one in accelerators]
    return [
        f"GPU {number} ({model})" if (model := _text(told)) else f"GPU {number}"
        for number, told in enumerate(models)
    ]


def creator(told: object) -> int | None:
    """Return the process id of `pid 123, python3.12`; None where it is not told so."""
    found = _CREATOR.match(told) if isinstance(told, str) else None
    return int(found[1]) if found else None


def _nanoseconds(registry: Registry, entry: int) -> int | None:
    """Return what the driver has counted for a client so far; None where it counts nothing for it."""
    usage = registry.read(entry, "AppUsage")
    if isinstance(usage, list):
        return sum(_count(one.get(_TIME, 0)) for one in usage if isinstance(one, dict))
    direct = registry.read(entry, _TIME)
    return None if direct is None else _count(direct)


def _count(told: Any) -> int:
    if not isinstance(told, int) or isinstance(told, bool) or not 0 <= told < 1 << 63:
        raise CounterError(f"{_TIME} is {told!s:.40}")
    return told


def _text(told: object) -> str:
    """Return a model's name, which some drivers give as bytes with a zero at the end."""
    if isinstance(told, bytes):
        told = told.rstrip(b"\0").decode(errors="replace")
    return told if isinstance(told, str) else ""
