"""The GPU clients of this process on a Mac, and the nanoseconds that the GPU's driver counts for each.

Apple does not document the names, but several public programs agree on them: darwin-perf (adammikulis),
ActivityMonitor (wieslawsoltes), Stats (exelban). The clients are below the services of class
`IOAccelerator`. Each has in `IOUserClientCreator` the process that made it ("pid 123, python3.12", the name
cut to 16 characters), and in `AppUsage` a list of dictionaries with `accumulatedGPUTime`, one for each API.
Drivers of Intel's and AMD's GPUs have `accumulatedGPUTime` at the client itself. Not yet run on a Mac.
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
        self._pid_of_entries = 0
        #: This process's clients by their id: the entry, and the GPU's name.
        self._own: dict[int, tuple[int, str]] = {}
        #: The ids of other processes' clients.
        self._others: set[int] = set()

    def read(self, search: bool) -> Sequence[GpuClient]:
        """Return this process's clients; without `search`, only known ones that still exist."""
        if self._registry is None:
            self._registry = self._load()
        if self._pid() != self._pid_of_entries:  # a forked child has none of its parent's entries
            self._own, self._others, self._pid_of_entries = {}, set(), self._pid()
        if search:
            self._search(self._registry)
        found = []
        for number, (entry, gpu) in self._own.items():
            nanoseconds = _nanoseconds(self._registry, entry)
            if nanoseconds is not None:
                # Clients work at the same time, like engines, so each counts as an engine.
                found.append(GpuClient(gpu, str(number), {str(number): nanoseconds}))
        return found

    def why_none(self, clients: Sequence[GpuClient]) -> Sentence | None:
        """Return the reason if these clients have no GPU time, None if they may have some."""
        if clients:
            return None
        return NOT_COUNTED if self._own else NOT_USED

    def close(self) -> None:
        """Release the remembered entries."""
        if self._registry is not None and self._pid() == self._pid_of_entries:
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
                    registry.release(entry)  # a remembered entry keeps its earlier reference
        finally:
            for accelerator in accelerators:
                registry.release(accelerator)
        for number in self._own.keys() - own.keys():
            registry.release(self._own[number][0])
        self._own, self._others = own, others

    def _is_own(self, registry: Registry, entry: int) -> bool:
        return creator(registry.read(entry, "IOUserClientCreator")) == self._pid_of_entries


def gpu_names(registry: Registry, accelerators: Sequence[int]) -> list[str]:
    """Return the names of the GPUs: `gpu:0` for a Mac's only one, as in frameworks, else with the model."""
    if len(accelerators) == 1:
        return ["gpu:0"]
    models = [registry.read(accelerator, "model") for accelerator in accelerators]
    return [
        f"GPU {number} ({name})" if (name := _text(model)) else f"GPU {number}"
        for number, model in enumerate(models)
    ]


def creator(text: object) -> int | None:
    """Return the process id in a text such as `pid 123, python3.12`, None for another value."""
    found = _CREATOR.match(text) if isinstance(text, str) else None
    return int(found[1]) if found else None


def _nanoseconds(registry: Registry, entry: int) -> int | None:
    """Return the driver's count for a client so far, None if it counts nothing for it."""
    usage = registry.read(entry, "AppUsage")
    if isinstance(usage, list):
        return sum(_count(of_api.get(_TIME, 0)) for of_api in usage if isinstance(of_api, dict))
    direct = registry.read(entry, _TIME)
    return None if direct is None else _count(direct)


def _count(count: Any) -> int:
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count < 1 << 63:
        raise CounterError(f"{_TIME} is {count!s:.40}")
    return count


def _text(name: object) -> str:
    """Return a model's name. Some drivers have it as bytes with a zero at the end."""
    if isinstance(name, bytes):
        name = name.rstrip(b"\0").decode(errors="replace")
    return name if isinstance(name, str) else ""
