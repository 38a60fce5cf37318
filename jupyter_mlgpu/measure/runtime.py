"""The parts put together: one `Runtime` a process, shared by the notebook, scripts and callbacks."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Compiled
from jupyter_mlgpu.measure.frameworks.imports import ImportHook
from jupyter_mlgpu.measure.probes import cell
from jupyter_mlgpu.measure.probes.base import ProbeInstruments
from jupyter_mlgpu.measure.probes.cell.peak_memory_process import ResettablePeak
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.store import Store

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator
    from jupyter_mlgpu.measure.activity.markers import Markers, Rules
    from jupyter_mlgpu.measure.activity.stack import OfUser
    from jupyter_mlgpu.measure.activity.stack_sampler import StackSampler
    from jupyter_mlgpu.measure.frameworks.replay import Replay
    from jupyter_mlgpu.measure.gpu.meters import Meter
    from jupyter_mlgpu.measure.ops.profile_store import ProfileStore
    from jupyter_mlgpu.measure.probes.counter_samples import CounterSampleStore
    from jupyter_mlgpu.measure.probes.gpus import Gpus


#: `off` in the kernel's environment: cells are not looked at while they run.
LIMITS_VARIABLE = "JUPYTER_MLGPU_LIMITS"
#: Modules that may load CUDA into the process: the frameworks described here, and others.
_CUDA_MODULES = (*registry.MODULES, "cupy", "numba", "triton", "cuda")


class Runtime:
    """A store, a recorder and the device selection of this process."""

    def __init__(self, notebook: str | None = None) -> None:
        self.store = Store()
        self.selection = DeviceSelection(registry.loaded)
        self.sampler = Sampler()
        #: Starting NVML may take a second, so the GPUs are found on the sampler's thread.
        self.gpus = Lazy(_find_gpus)
        self.instruments = ProbeInstruments(self.sampler, self.gpus)
        #: Saved records played back: told of beside the frameworks, and never chosen for a cell.
        self.replays: list[Replay] = []
        #: Whether cells are looked at while they run, so that a record can say what limited its cell.
        self.samples_cells = os.environ.get(LIMITS_VARIABLE) != "off"
        #: Of a file with code of the user's: the execution count of its cell, 0 where it has none; else None.
        self.of_user: OfUser = lambda filename: None
        #: The activity of a traced block with its lines as the user sees them.
        self.in_blocks: Callable[[Activity | None], Activity | None] = lambda activity: activity
        #: Told what a command that takes long is at, in one sentence, and "" at its end.
        self.on_progress: Callable[[str], None] = lambda sentence: None
        #: Told of each answer to a lesson's exercise that was tried: its name, and whether it was right.
        self.on_check: Callable[[str, bool], None] = lambda exercise, right: None
        self.recorder = Recorder(
            new_run(notebook),
            clock=SystemClock(),
            probes=cell.probes(self.instruments),
            backends=registry.loaded,
            versions={"python": platform.python_version(), "jupyter_mlgpu": __version__},
            keep=lambda key, profiles: self.profiles.add(key, profiles),
            activity=self._activity,
            gpu=self._gpu_meter,
        )
        self._watch = ImportHook(registry.MODULES, self._framework_loaded)

    # What seldom or never runs is loaded when it does: loading the extension should take no time.

    @cached_property
    def profiles(self) -> ProfileStore:
        """The events of the newest profiled cells."""
        from jupyter_mlgpu.measure.ops.profile_store import ProfileStore

        return ProfileStore()

    @cached_property
    def samples(self) -> CounterSampleStore:
        """What the live counters showed while the newest cells ran."""
        from jupyter_mlgpu.measure.probes.counter_samples import CounterSampleStore

        return CounterSampleStore()

    def _gpu_meter(self) -> Meter | None:
        return self._gpu_records if any(module in sys.modules for module in _CUDA_MODULES) else None

    @cached_property
    def _gpu_records(self) -> Meter:
        from jupyter_mlgpu.measure.gpu.meters import meter

        found = meter(self.sampler)
        atexit.register(found.stop)
        return found

    def _activity(self, of_user: OfUser | None) -> StackSampler | None:
        if not self.samples_cells:
            return None
        from jupyter_mlgpu.measure.activity.external_readers import ExternalReaders
        from jupyter_mlgpu.measure.activity.stack_sampler import StackSampler

        external_readers = ExternalReaders(
            of_user=of_user or self.of_user,
            gpus=self._gpus_busy,
            gpu_others=self._gpu_others,
            gpu_neighbours=self._gpu_neighbours,
            retries=_allocator_retries,
            compiled=_compiled,
            called_back=_called_back,
        )
        return StackSampler(self.sampler, self._markers, self._gil_wait, external_readers)

    @cached_property
    def _markers(self) -> Markers:
        from jupyter_mlgpu.measure.activity.markers import RULES, Markers

        def rules() -> list[Rules]:
            return [
                RULES,
                *(registry.framework(name).stack_rules for name in registry.imported_or_importing()),
            ]

        return Markers(rules)

    @cached_property
    def _gil_wait(self) -> GilWaitEstimator:
        from jupyter_mlgpu.measure.activity.gil_wait import GilWaitEstimator

        return GilWaitEstimator()

    @property
    def _gpus_at_work(self) -> Gpus | None:
        """Those that the cell can have used, so none without a framework: the driver takes milliseconds."""
        return self.gpus.known if registry.loaded() else None

    def _gpus_busy(self, since: float) -> dict[str, tuple[float, int]]:
        gpus = self._gpus_at_work
        told = {gpu.label: gpus.nvml.busy(gpu.index, since).value for gpu in gpus.gpus} if gpus else {}
        return {label: busy for label, busy in told.items() if busy is not None}

    def _gpu_others(self, since: float) -> float | None:
        gpus = self._gpus_at_work
        told = [gpus.nvml.shared(gpu.index, since, os.getpid()).value for gpu in gpus.gpus] if gpus else []
        return max((one for one in told if one is not None), default=None)

    def _gpu_neighbours(self) -> int | None:
        gpus = self._gpus_at_work
        told = [gpus.nvml.neighbours(gpu.index, os.getpid()).value for gpu in gpus.gpus] if gpus else []
        return max((one for one in told if one is not None), default=None)

    def watch_imports(self) -> None:
        """Begin tracing a framework in the very cell that imports it."""
        self._watch.start()

    def release(self) -> None:
        """Cells are not measured from now on: give up what stays in the frameworks between those that are."""
        for backend in registry.loaded():
            with suppress(Exception):  # then it stays
                backend.release()
        if "_gpu_records" in vars(self):
            self._gpu_records.stop()

    def close(self) -> None:
        """Leave nothing behind in the interpreter."""
        self.release()
        self._watch.stop()
        self.sampler.close()
        ResettablePeak.close()

    def _framework_loaded(self, module: str) -> None:
        backend = registry.backend(registry.MODULES[module])
        self.selection.framework_loaded(backend)
        self.recorder.framework_loaded(backend)


def _allocator_retries() -> int | None:
    told = [backend.allocator_retries() for backend in registry.created_backends()]
    return sum(one for one in told if one is not None) if any(one is not None for one in told) else None


def _compiled() -> Compiled | None:
    """What all frameworks together tell; the programs of those that count them."""
    told = []
    for backend in registry.loaded():
        with suppress(Exception):  # it may be about to be imported
            told.append(backend.compiled())
    known = [one for one in told if one is not None]
    programs = [one.programs for one in known if one.programs is not None]
    if not known:
        return None
    return Compiled(
        sum(one.seconds for one in known),
        sum(programs) if programs else None,
        sum(one.first_runs for one in known),
    )


def _called_back() -> bool:
    return any(backend.calls_back() for backend in registry.created_backends())


def _find_gpus() -> Gpus:
    from jupyter_mlgpu.measure.probes import gpus
    from jupyter_mlgpu.measure.probes.nvml import Nvml

    return gpus.find(Nvml())


_runtimes: dict[int, Runtime] = {}


def current() -> Runtime:
    """This process's kit, made at first use; a forked child gets one of its own."""
    pid = os.getpid()
    if pid not in _runtimes:
        _runtimes.clear()  # a parent's kit, copied by fork
        _runtimes[pid] = Runtime()
    return _runtimes[pid]


def install(runtime: Runtime) -> None:
    """Make `runtime` this process's kit; used when the notebook extension loads."""
    _runtimes.clear()
    _runtimes[os.getpid()] = runtime
