"""A framework, described: and what the recorder asks of one, the contract that every backend keeps.

`jupyter_mlgpu.testing.FakeBackend` is a public example; tests/measure/contract holds the suite that every
backend passes. No method but `find_devices` may start the framework (initialise its context), and none
imports it: the user's next line may still want to configure it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jupyter_mlgpu.measure.activity.markers import Rules
from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import RanOn
from jupyter_mlgpu.record.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a framework: our short `name` (`gpu:1`), its `kind` (cpu, cuda, metal, rocm)."""

    framework: str
    name: str
    kind: str
    native_name: str

    @property
    def number(self) -> int:
        """1 of `gpu:1`."""
        return int(self.name.partition(":")[2])


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of the hardware behind a device; None where it is not known."""

    hardware: str | None = None
    memory: int | None = None
    driver: str | None = None


#: What a backend may be able to do on a device, in the order in which it is told.
CAPABILITIES: Mapping[str, str] = {
    "scope": "cells can be sent here",
    "waiting": "the wall time includes work that was only given to the device",
    "placement": "it is known where operations ran",
    "allocator_peak": "the peak of the framework's allocator is known",
}


@dataclass(frozen=True, slots=True)
class Verified:
    """Where the contract suite passed, in words; `emulated` where the device there was not a real one."""

    where: str
    emulated: bool = False

    def __str__(self) -> str:
        if self.emulated:
            return f"run on an emulated device ({self.where}), not yet on a real one"
        return f"seen working on {self.where}"


@dataclass(frozen=True, slots=True)
class Capability:
    """One of `CAPABILITIES` on one device: there, or why not; `verified` says where it was seen working.

    None there means that it has not yet run on such hardware. What is verified is exercised by the
    contract suite, on that hardware.
    """

    name: str
    available: bool
    reason: Sentence | None
    verified: Verified | None


@dataclass(frozen=True, slots=True)
class Framework:
    """What is known of a framework without loading anything: data, and where its parts are.

    A part is written `module:attribute`, and loaded when it is first asked for (`registry.part`).

    Attributes:
        name: the module's name, as in `import torch`, and the word after `--framework`.
        title: its name as its people write it.
        backend: a class that keeps to `Backend`.
        sample: a function that imports it; returns the kinds of its devices (cpu or gpu, each) and a function
            that computes a small product (see `explain/doctor/ask.py`).
        array_programs: a class that keeps to `benchmarks.Programs`, for benchmarks.
        training: a `benchmarks.Training`, for benchmarks of whole models.
        profiler: a class that keeps to `ops.profiler.Profiler`.
        profiling: a module that is a `profiler_watch.FrameworkProfiler`, written without an attribute.
        why_no_profiler: a sentence, where there is none.
        why_no_xspace: a sentence, where the profiler writes no XSpace.
        evaluate: a function that has a value worked out, where the framework puts that off.
        build: a function of a folder of packages: the versions of CUDA and cuDNN that the framework there was
            built for (each None where there is none); None where it is not in that folder.
        newest_python: the newest Python that the versions in its extra were built for; in newer ones, pip
            leaves them out without a word. None where pip says it.
        packages: the packages that it consists of, or whose versions have to fit it; a name with a * at the
            end stands for all that begin so.
        metal_packages: the packages each of which brings it to a Mac's GPU.
        show_devices: a command line that has it say at length what devices it finds.
        modest: variables of the environment by which it takes a GPU's memory as it needs it.
        caches: where its downloads are kept: by name, the variable of the environment that says it, and the
            usual folder within the home folder.
        race_note: what the times of a race hold or lack, in a sentence; `race_note_gpu` where a GPU raced.
        keeps_lock: its short operations keep the interpreter's lock.
        compiled_in: the module of functions that stand for compiled ones of the user's, and tell the user's
            module as their own; None where they are objects of the framework.
        doing: what its functions do, for reading stacks (see `activity/markers.py`).
        verified: by kind of device, on which hardware the backend was seen working. What is not listed has
            not yet run there. An entry is made by running the contract suite (tests/measure/contract) on a
            machine of that kind, or over the emulated device (tests/metal_emulator), never by reading
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
    newest_python: tuple[int, int] | None = None
    packages: tuple[str, ...] = ()
    metal_packages: tuple[str, ...] = ()
    show_devices: str | None = None
    modest: Mapping[str, str] = field(default_factory=dict)
    caches: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    race_note: Sentence | None = None
    race_note_gpu: Sentence | None = None
    keeps_lock: bool = False
    compiled_in: str | None = None
    doing: Rules = field(default_factory=dict)
    verified: Mapping[str, Verified] = field(default_factory=dict)

    def capabilities(self, kind: str, why_not: Mapping[str, Sentence]) -> tuple[Capability, ...]:
        """All of `CAPABILITIES` on a kind of device, but those that `why_not` gives a reason against."""
        verified = self.verified.get(kind)
        return tuple(
            Capability(name, name not in why_not, why_not.get(name), verified) for name in CAPABILITIES
        )


class Compiled(NamedTuple):
    """What a framework's own clocks say of compiling so far: seconds, and how many programs (None: not told).

    Both only grow, but for what the user's code resets. Of them all, the seconds are of what the thread whose
    cell is watched had to wait for, as far as the framework tells threads apart. `first_runs` are seconds in
    which programs were compiled and run once, which nobody tells apart; none of them are among `seconds`.
    """

    seconds: float
    programs: int | None
    first_runs: float = 0.0

    def since(self, before: Compiled) -> Compiled:
        """What came after `before`."""
        return Compiled(
            max(0.0, self.seconds - before.seconds),
            None if self.programs is None else max(0, self.programs - (before.programs or 0)),
            max(0.0, self.first_runs - before.first_runs),
        )


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen while a cell ran: where operations ran (None: not known) and the allocator's peak.

    `only` is the one device on which anything can have run, where that is known and `ran_on` is not; `worked`
    tells that something ran, wherever it was. `notes` are sentences for the receipt.
    """

    ran_on: tuple[RanOn, ...] | None
    why_missing: Sentence | None
    readings: tuple[Reading, ...] = ()
    notes: tuple[Sentence, ...] = ()
    only: str | None = None
    worked: bool = False

    @property
    def known(self) -> bool:
        """Return whether it is known if the framework ran anything at all."""
        return self.worked or self.ran_on is not None


class Observation(Protocol):
    """A watch over one cell, from `Backend.observe` on."""

    def finish(self) -> Observed:
        """Stop watching and tell what was seen."""


class Scope(Protocol):
    """A device chosen for the present thread, until `leave`."""

    def holds(self) -> bool:
        """Whether this thread's work still goes where this scope sent it."""

    def leave(self) -> Sentence | None:
        """Put back the device found on entry; returns a note where the user's code had changed it."""


class Backend(Protocol):
    """One framework, to be derived from. `name` is the module's name, as in `import tensorflow`.

    What is written out here is so unless a framework says otherwise: it has nothing to start or to give up,
    tells all its devices, keeps no GPU hidden, and moves values by itself.
    """

    name: str

    def loaded(self) -> bool:
        """Whether the user's program has finished importing the framework."""
        return imported(self.name)

    def versions(self) -> Mapping[str, str]:
        """Versions of the framework and the libraries that matter with it."""

    def started(self) -> bool:
        """Whether the user's program has begun to use devices; before, asking for them may be slow."""
        return True

    def devices(self) -> tuple[Device, ...]:
        """The devices a cell can be sent to, as far as they are known without starting the framework."""

    def find_devices(self) -> tuple[Device, ...]:
        """All devices, for a user who asked for them: the one method that may start the framework."""
        return self.devices()

    def details(self, device: Device) -> Details:
        """What is known of the hardware behind a device."""

    def why_no_gpu(self) -> Sentence:
        """One sentence for a user who finds no GPU among the devices."""

    def needs_restart(self) -> Sentence | None:
        """Why a GPU that exists is kept from the framework until the kernel restarts; None if none is.

        The sentence says what to do before the restart.
        """
        return None

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """What can be done on a device: one entry for each of `CAPABILITIES`."""

    def enter(self, device: Device) -> Scope:
        """Send what the present thread runs from now on to `device`."""

    def synchronize(self) -> None:
        """Wait until the devices have finished what they were given."""

    def is_recorded(self) -> bool:
        """Return whether CUDA's records tell all that its devices do, but for a CPU's work."""
        return False

    def synchronize_cpu(self) -> None:
        """Wait until the CPU has finished what it was given."""

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What the framework's allocator holds on a device now, in bytes (see `allocator.py`)."""

    def observe(self) -> Observation:
        """Begin to watch where operations run."""

    def observe_closely(self) -> Observation:
        """Begin to watch, in a run that nobody times: it may cost what `observe` may not."""
        return self.observe()

    def allocator_retries(self) -> int | None:
        """How often its allocators freed what they kept and tried again, so far; None where none tells."""
        return None

    def compiled(self) -> Compiled | None:
        """What it has traced and compiled so far; None where it does not tell."""
        return None

    def calls_back(self) -> bool:
        """Whether its own threads may call functions of the user's Python, as a pipeline of data does."""
        return False

    def release(self) -> None:
        """Give up what stays in the framework between two cells that are watched, until the next is."""
        return

    def stays(self, values: Mapping[str, object], device: Device) -> Sentence | None:
        """Which of the user's values stay on another device than the one asked for, in one sentence.

        `values` are those that a cell uses, by name; None where nothing of them stays elsewhere. Reads the
        framework's own objects alone, and runs no code of the user's.
        """
        return None
