"""The runtime: one `Runtime` per process, shared by the notebook, scripts and callbacks."""

from __future__ import annotations

import atexit
import os
import platform
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec.structs import replace

from jupyter_mlgpu import measure
from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.measure import guarded
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
from jupyter_mlgpu.record.sentence import say
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
    from jupyter_mlgpu.measure.recorder import Measurement
    from jupyter_mlgpu.record.record import Record


#: If this environment variable of the kernel is `off`, cells are not sampled while they run.
LIMITS_VARIABLE = "JUPYTER_MLGPU_LIMITS"
#: Modules that may load CUDA into the process: the frameworks described here, and others.
_CUDA_MODULES = (*registry.MODULES, "cupy", "numba", "triton", "cuda")


class Runtime:
    """A store, a recorder and the device selection of this process."""

    def __init__(self, notebook: str | None = None) -> None:
        self.store = Store()
        self.selection = DeviceSelection(registry.loaded)
        self.sampler = Sampler()
        #: Starting NVML may take a second, so the sampler's thread finds the GPUs.
        self.gpus = Lazy(_find_gpus)
        self.instruments = ProbeInstruments(self.sampler, self.gpus)
        #: Saved records played back. They are listed with the frameworks and never selected for a cell.
        self.replays: list[Replay] = []
        #: True if cells are sampled while they run, so that a record can say what limited its cell.
        self.samples_cells = os.environ.get(LIMITS_VARIABLE) != "off"
        #: Returns the execution count of the cell of a file with user code, 0 if it has none, else None.
        self.of_user: OfUser = lambda filename: None
        #: Returns the activity of a traced block with its lines as the user sees them.
        self.in_blocks: Callable[[Activity | None], Activity | None] = lambda activity: activity
        #: Makes the record of a cell that has ended and has not been replied to yet.
        self.finish_records: Callable[[], None] = lambda: None
        #: Called with one sentence on what a long command is doing, and with "" at its end.
        self.on_progress: Callable[[str], None] = lambda sentence: None
        #: Called for each answer to a lesson's exercise, with the exercise's name and True if it is right.
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
        self._import_hook = ImportHook(registry.MODULES, self._framework_loaded)

    # What is seldom needed is imported at first use, so that loading the extension takes no time.

    @cached_property
    def profiles(self) -> ProfileStore:
        """The events of the newest profiled cells."""
        from jupyter_mlgpu.measure.ops.profile_store import ProfileStore

        return ProfileStore()

    @cached_property
    def samples(self) -> CounterSampleStore:
        """The values of the live counters while the newest cells ran."""
        from jupyter_mlgpu.measure.probes.counter_samples import CounterSampleStore

        return CounterSampleStore()

    def _gpu_meter(self) -> Meter | None:
        return self._gpu_records if any(module in sys.modules for module in _CUDA_MODULES) else None

    @cached_property
    def _gpu_records(self) -> Meter:
        from jupyter_mlgpu.measure.gpu.meters import meter

        gpu_meter = meter(self.sampler)
        atexit.register(gpu_meter.stop)
        return gpu_meter

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
    def _gpus_in_reach(self) -> Gpus | None:
        """The GPUs that the cell can have used; None without a framework: the driver takes milliseconds."""
        return self.gpus.known if registry.loaded() else None

    def _gpus_busy(self, since: float) -> dict[str, tuple[float, int]]:
        gpus = self._gpus_in_reach
        busy_times = {gpu.label: gpus.nvml.busy(gpu.index, since).value for gpu in gpus.gpus} if gpus else {}
        return {label: busy for label, busy in busy_times.items() if busy is not None}

    def _gpu_others(self, since: float) -> float | None:
        gpus = self._gpus_in_reach
        busy_times = (
            [gpus.nvml.shared(gpu.index, since, os.getpid()).value for gpu in gpus.gpus] if gpus else []
        )
        return max((busy for busy in busy_times if busy is not None), default=None)

    def _gpu_neighbours(self) -> int | None:
        gpus = self._gpus_in_reach
        counts = [gpus.nvml.neighbours(gpu.index, os.getpid()).value for gpu in gpus.gpus] if gpus else []
        return max((count for count in counts if count is not None), default=None)

    def with_limit(self, record: Record, measurement: Measurement) -> Record:
        """Return the record of a traced block or an epoch with what limited it.

        If that fails, the record has the reason instead: the user's code must go on.
        """
        try:
            return measure.explain(record, self.in_blocks(measurement.activity), self)
        except Exception as error:
            why = say("The measurement failed ({error}).", error=guarded.words(error))
            return replace(record, why_no_limit=why)

    def watch_imports(self) -> None:
        """Detect an import of a framework at once, so that the cell that imports it is already traced."""
        self._import_hook.start()

    def release(self) -> None:
        """Release what stays in the frameworks between measured cells: none is measured from now on."""
        for backend in registry.loaded():
            with suppress(Exception):  # then it stays
                backend.release()
        if "_gpu_records" in vars(self):
            self._gpu_records.stop()

    def close(self) -> None:
        """Release all that was installed in the interpreter."""
        self.release()
        self._import_hook.stop()
        self.sampler.close()
        ResettablePeak.close()

    def _framework_loaded(self, module: str) -> None:
        backend = registry.backend(registry.MODULES[module])
        self.selection.framework_loaded(backend)
        self.recorder.framework_loaded(backend)


def _allocator_retries() -> int | None:
    counts = [backend.allocator_retries() for backend in registry.created_backends()]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _compiled() -> Compiled | None:
    """Return the sum over all frameworks; programs are summed over the frameworks that count them."""
    totals = []
    for backend in registry.loaded():
        with suppress(Exception):  # it may be about to be imported
            totals.append(backend.compiled())
    known = [total for total in totals if total is not None]
    programs = [total.programs for total in known if total.programs is not None]
    if not known:
        return None
    return Compiled(
        sum(total.seconds for total in known),
        sum(programs) if programs else None,
        sum(total.first_runs for total in known),
    )


def _called_back() -> bool:
    return any(backend.calls_back() for backend in registry.created_backends())


def _find_gpus() -> Gpus:
    from jupyter_mlgpu.measure.probes import gpus
    from jupyter_mlgpu.measure.probes.nvml import Nvml

    return gpus.find(Nvml())


_runtimes: dict[int, Runtime] = {}


def current() -> Runtime:
    """Return this process's runtime, made at first use; a forked child gets one of its own."""
    pid = os.getpid()
    if pid not in _runtimes:
        _runtimes.clear()  # a parent's runtime, copied by fork
        _runtimes[pid] = Runtime()
    return _runtimes[pid]


def install(runtime: Runtime) -> None:
    """Make `runtime` this process's runtime; used when the notebook extension loads."""
    _runtimes.clear()
    _runtimes[os.getpid()] = runtime
