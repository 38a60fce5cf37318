"""The description of a framework, and the contract between its backend and the recorder.

`jupyter_mlgpu.testing.FakeBackend` is a public example. Every backend passes the suite in
tests/measure/contract. No method except `find_devices` may start the framework (initialise its context), and
no method imports it, because the user's next line may still configure it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import Struct

from jupyter_mlgpu.measure.activity.markers import Rules
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.record.sentence import Sentence

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue


class Device(Struct, frozen=True):
    """A device of a framework, with our short `name` (`gpu:1`) and its `kind` (cpu, cuda, metal, rocm)."""

    framework: str
    name: str
    kind: str
    native_name: str

    @property
    def number(self) -> int:
        """The number in the name: 1 of `gpu:1`."""
        return int(self.name.partition(":")[2])


class UsableMemory(Struct, frozen=True):
    """The bytes that macOS recommends a GPU to use at most (Metal: recommendedMaxWorkingSetSize).

    It is less than the machine's memory, which the GPU shares. `source` names the framework's function.
    """

    bytes: int
    source: Sentence


class Details(Struct, frozen=True):
    """The hardware behind a device: its name, memory in bytes and driver, each None if not known."""

    hardware: str | None = None
    memory: int | None = None
    driver: str | None = None


#: What a backend may support on a device, in the order in which it is listed.
CAPABILITIES: Mapping[str, str] = {
    "scope": "cells can be sent here",
    "waiting": "the wall time includes work that was only given to the device",
    "placement": "it is known where operations ran",
    "allocator_peak": "the peak of the framework's allocator is known",
}


class Verified(Struct, frozen=True):
    """The machine on which the contract suite passed; `emulated` if its device was not a real one."""

    where: str
    emulated: bool = False

    def __str__(self) -> str:
        if self.emulated:
            return f"run on an emulated device ({self.where}), not yet on a real one"
        return f"seen working on {self.where}"


class Capability(Struct, frozen=True):
    """One of `CAPABILITIES` on one device.

    If it is not available, `reason` says why. `verified` names the hardware of this kind on which the
    contract suite has exercised it; None means that the suite has not yet run on such hardware.
    """

    name: str
    available: bool
    reason: Sentence | None
    verified: Verified | None


class Framework(Struct, frozen=True):
    """The description of a framework: plain data, and the addresses of its parts.

    A part is written `module:attribute`, and loaded at its first use (`registry.part`).

    Attributes:
        name: the module's name, as in `import torch`, and the value of `--framework`.
        title: its name as its authors write it.
        backend: a class that implements `Backend`.
        sample: a function that imports the framework. It returns the kinds of its devices (cpu or gpu, each)
            and a function that computes a small product (see `explain/doctor/ask.py`).
        array_programs: a class that implements `benchmarks.Programs`, for benchmarks.
        training: a `benchmarks.Training`, for benchmarks of whole models.
        profiler: a class that implements `ops.profiler.Profiler`.
        profiling: a module that implements `profiler_hooks.FrameworkProfiler`, written without an attribute.
        why_no_profiler: the reason, if there is no profiler, or none that is to be had.
        why_no_xspace: the reason, if the profiler writes no XSpace.
        evaluate: a function that forces the evaluation of a value, if the framework is lazy.
        build: a function that takes a folder of packages and returns the versions of CUDA and cuDNN for which
            the framework in it was built (each None if there is none); None if it is not in that folder.
        oldest: the oldest version that its backend supports, the lower bound of its extra (`2.8`); None if
            that is not checked. With an older one, cells run and their receipts say what to install.
        newest_python: the newest Python for which the versions in its extra were built. On a newer Python,
            pip silently leaves them out. None if pip reports it.
        packages: its packages, and those whose versions must be compatible with it. A trailing * matches any
            ending.
        metal_packages: packages, each of which makes it run on a Mac's GPU.
        show_devices: a command line that prints details of the devices it finds.
        memory_growth_env: environment variables that make it allocate GPU memory on demand.
        caches: the folders of its downloads. Each has a name, the environment variable that sets it, and the
            default path within the home folder.
        race_note: a sentence about what the times of a race include or omit.
        race_note_gpu: the same for races on a GPU.
        gpu_note: a sentence about what selecting a GPU changes for the user's code.
        gpu_by_default: True if its operations go to a GPU when it has one and nothing else is asked for.
        names_device: a regular expression that finds code which gives operations a device, if arrays do
            not tell where they were computed.
        keeps_gil: True if its short operations keep the GIL.
        compiled_in: the module that defines the wrappers of compiled functions, if these wrappers report the
            user's module as their own; None if they are objects of the framework.
        stack_rules: the activities of its functions, used to classify stacks (see `activity/markers.py`).
        remedies: what to do about a kind of limit, in the framework's own names, by the kind (`launch`) or by
            the kind and a kind of device (`launch on metal`). `loader` is for input that a data loader
            prepares, `values` for waits for values of a GPU. Limits that are not listed have the advice of
            `explain/limits/remedies.py`, which names no framework.
        verified: by kind of device, the hardware on which the backend was verified. It has not yet run on
            kinds that are not listed. An entry is made by running the contract suite (tests/measure/contract)
            on a machine of that kind or on the emulated device (tests/metal_emulator), never from
            documentation.
    """

    name: str
    title: str
    backend: str
    sample: str
    array_programs: str | None = None
    training: str | None = None
    profiler: str | None = None
    profiling: str | None = None
    why_no_profiler: Sentence | None = None
    why_no_xspace: str = ""
    evaluate: str | None = None
    build: str | None = None
    oldest: str | None = None
    newest_python: tuple[int, int] | None = None
    packages: tuple[str, ...] = ()
    metal_packages: tuple[str, ...] = ()
    show_devices: str | None = None
    memory_growth_env: Mapping[str, str] = {}
    caches: Mapping[str, tuple[str, str]] = {}
    race_note: Sentence | None = None
    race_note_gpu: Sentence | None = None
    gpu_note: Sentence | None = None
    gpu_by_default: bool = True
    names_device: str | None = None
    keeps_gil: bool = False
    compiled_in: str | None = None
    stack_rules: Rules = {}
    remedies: Mapping[str, Sentence] = {}
    verified: Mapping[str, Verified] = {}

    def capabilities(self, kind: str, why_not: Mapping[str, Sentence]) -> tuple[Capability, ...]:
        """Return all of `CAPABILITIES` for a kind of device; those in `why_not` are unavailable."""
        verified = self.verified.get(kind)
        return tuple(
            Capability(name, name not in why_not, why_not.get(name), verified) for name in CAPABILITIES
        )


class Compiled(NamedTuple):
    """The compilation so far, by a framework's own clocks: seconds and number of programs (None if unknown).

    Both only grow, unless the user's code resets them. `seconds` are those that the measured cell's thread
    had to wait, as far as the framework distinguishes threads. `first_runs` are seconds in which programs
    were compiled and run once; the two cannot be separated. They are not included in `seconds`.
    """

    seconds: float
    programs: int | None
    first_runs: float = 0.0

    def since(self, before: Compiled) -> Compiled:
        """Return the difference to an earlier state, `before`."""
        return Compiled(
            max(0.0, self.seconds - before.seconds),
            None if self.programs is None else max(0, self.programs - (before.programs or 0)),
            max(0.0, self.first_runs - before.first_runs),
        )


class LazyWork(Struct, frozen=True):
    """The work that a cell left for later, and what it computed of earlier cells' work.

    `left` are the variables with values that the cell asked for and that are not computed yet. `computed` has
    a sentence for each earlier cell, by its execution count, whose work was computed in this one.
    """

    left: tuple[str, ...]
    computed: Mapping[int, Sentence]


class Observed(Struct, frozen=True):
    """A backend's results for one cell: where operations ran (None if unknown) and the allocator's peak.

    `only` is the one device on which anything can have run, if that is known and `ran_on` is not. `worked` is
    True if something ran, on whichever device. `default` is the short name of the device on which
    the framework makes new values, None if unknown. `notes` are sentences for the receipt.
    """

    ran_on: tuple[RanOn, ...] | None
    why_missing: Sentence | None
    readings: tuple[Reading, ...] = ()
    notes: tuple[Sentence, ...] = ()
    only: str | None = None
    worked: bool = False
    default: str | None = None

    @property
    def known(self) -> bool:
        """True if it is known whether the framework ran anything at all."""
        return self.worked or self.ran_on is not None


class Observation(Protocol):
    """The observation of one cell, begun by `Backend.observe`."""

    def finish(self) -> Observed:
        """End the observation and return its results."""


class Scope(Protocol):
    """A device selected for the current thread, until `leave`."""

    def holds(self) -> bool:
        """Return True if this thread's work still goes to the selected device."""

    def leave(self) -> Sentence | None:
        """Restore the device found on entry; return a note if the user's code had changed the selection."""


class Backend(Protocol):
    """One framework; a base class. `name` is the module's name, as in `import tensorflow`.

    The methods with a body are defaults. They describe a framework that has nothing to start or to release,
    lists all its devices, hides no GPU, and moves values by itself.
    """

    name: str

    def loaded(self) -> bool:
        """Return True if the user's program has finished importing the framework."""
        return imported(self.name)

    def versions(self) -> Mapping[str, str]:
        """Return the versions of the framework and of the libraries that it depends on."""

    def started(self) -> bool:
        """Return True if the user's program has used devices; before that, querying them may be slow."""
        return True

    def devices(self) -> tuple[Device, ...]:
        """Return the devices that a cell can use, as far as known without starting the framework."""

    def find_devices(self) -> tuple[Device, ...]:
        """Return all devices, at the user's request. Only this method may start the framework."""
        return self.devices()

    def details(self, device: Device) -> Details:
        """Return what is known of the hardware behind a device."""

    def default_device(self) -> Device | None:
        """Return the device of new work while nothing else is selected; None if it is not known."""
        return None

    def usable_memory(self, device: Device) -> UsableMemory | None:
        """Return what a Mac's GPU should use at most; None for other devices, or if it is not known.

        Called at the user's request: it may create the framework's allocator.
        """
        return None

    def why_no_gpu(self) -> Sentence:
        """Return one sentence for a user who finds no GPU among the devices."""

    def needs_restart(self) -> Sentence | None:
        """Return why an existing GPU is hidden from the framework until the kernel restarts, else None.

        The sentence says what to do before the restart.
        """
        return None

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """Return one entry for each of `CAPABILITIES` on a device."""

    def enter(self, device: Device) -> Scope:
        """Send what the current thread runs from now on to `device`."""

    def synchronize(self) -> None:
        """Wait until the devices have finished their queued work."""

    def is_recorded(self) -> bool:
        """Return True if CUDA's activity records cover all work on its devices except a CPU's."""
        return False

    def synchronize_cpu(self) -> None:
        """Wait until the CPU has finished its queued work."""

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """Return the bytes that the framework's allocator holds on a device now (see `allocator.py`)."""

    def observe(self) -> Observation:
        """Begin to observe where operations run."""

    def observe_closely(self) -> Observation:
        """Begin an observation in a run that is not timed: it may cost more than `observe`."""
        return self.observe()

    def allocator_retries(self) -> int | None:
        """Return how often its allocators freed cached memory and retried, so far; None if unknown."""
        return None

    def compiled(self) -> Compiled | None:
        """Return what it has traced and compiled so far; None if unknown."""
        return None

    def calls_back(self) -> bool:
        """Return True if its own threads may call Python functions of the user, as a data pipeline does."""
        return False

    def lazy_work(self, values: Mapping[str, object], cell: int | None) -> LazyWork | None:
        """Return what the cell that has just ended left for later, and what it computed for earlier cells.

        `values` are those that the cell names, `cell` is its execution count. None if the framework computes
        at once, or does not tell.
        """
        return None

    def release(self) -> None:
        """Release what stays in the framework between observed cells, until the next one begins."""
        return

    def placed_values(self, values: Mapping[str, object]) -> Sequence[PlacedValue]:
        """Return those of the user's values, by name, on whose devices the framework computes.

        Only the framework's own objects are read, and no code of the user runs. Empty for a framework that
        moves values to where it computes.
        """
        return ()

    def left_on_cpu_note(self, placed: Sequence[PlacedValue]) -> Sentence | None:
        """Return one sentence on a model left on the CPU although there is a GPU; None if there is none."""
        return None

    def misplaced_note(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Return one sentence that names the user's values on another device than the selected one.

        `values` are those that a cell uses, by name. Returns None if no value is misplaced. Only the
        framework's own objects are read, and no code of the user runs.
        """
        return None
