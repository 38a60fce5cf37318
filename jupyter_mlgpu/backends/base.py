"""What the recorder asks of a framework: the contract that every backend keeps.

`jupyter_mlgpu.testing.FakeBackend` is a public example; tests/contract holds the suite that every backend
passes. No method but `find_devices` may start the framework (initialise its context), and none imports it:
the user's next line may still want to configure it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.backends.verified import VERIFIED, Verified
from jupyter_mlgpu.record import RanOn, Reading


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a framework: our short `name` (`gpu:1`), its `kind` (cpu, cuda, metal, rocm)."""

    framework: str
    name: str
    kind: str
    native_name: str


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
class Capability:
    """One of `CAPABILITIES` on one device: there, or why not; `verified` says where it was seen working.

    None there means that it has not yet run on such hardware. What is verified is exercised by the
    contract suite, on that hardware.
    """

    name: str
    available: bool
    reason: str | None
    verified: Verified | None


def capabilities(framework: str, kind: str, why_not: Mapping[str, str]) -> tuple[Capability, ...]:
    """All of `CAPABILITIES` on a kind of device, but those that `why_not` gives a reason against."""
    verified = VERIFIED.get((framework, kind))
    return tuple(Capability(name, name not in why_not, why_not.get(name), verified) for name in CAPABILITIES)


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen while a cell ran: where operations ran (None: not known) and the allocator's peak.

    `only` is the one device on which anything can have run, where that is known and `ran_on` is not;
    `notes` are sentences for the receipt.
    """

    ran_on: tuple[RanOn, ...] | None
    why_missing: str | None
    readings: tuple[Reading, ...] = ()
    notes: tuple[str, ...] = ()
    only: str | None = None


class Observation(Protocol):
    """A watch over one cell, from `Backend.observe` on."""

    def finish(self) -> Observed:
        """Stop watching and tell what was seen."""
        ...


class Scope(Protocol):
    """A device chosen for the present thread, until `leave`."""

    def holds(self) -> bool:
        """Whether this thread's work still goes where this scope sent it."""
        ...

    def leave(self) -> str | None:
        """Put back the device found on entry; returns a note where the user's code had changed it."""
        ...


class Backend(Protocol):
    """One framework. `name` is the module's name, as in `import tensorflow`."""

    name: str

    def loaded(self) -> bool:
        """Whether the user's program has finished importing the framework."""
        ...

    def versions(self) -> Mapping[str, str]:
        """Versions of the framework and the libraries that matter with it."""
        ...

    def started(self) -> bool:
        """Whether the user's program has begun to use devices; before, asking for them may be slow."""
        ...

    def devices(self) -> tuple[Device, ...]:
        """The devices a cell can be sent to, as far as they are known without starting the framework."""
        ...

    def find_devices(self) -> tuple[Device, ...]:
        """All devices, for a user who asked for them: the one method that may start the framework."""
        ...

    def details(self, device: Device) -> Details:
        """What is known of the hardware behind a device."""
        ...

    def why_no_gpu(self) -> str:
        """One sentence for a user who finds no GPU among the devices."""
        ...

    def needs_restart(self) -> str | None:
        """Why a GPU that exists is kept from the framework until the kernel restarts; None if none is.

        The sentence says what to do before the restart.
        """
        ...

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """What can be done on a device: one entry for each of `CAPABILITIES`."""
        ...

    def enter(self, device: Device) -> Scope:
        """Send what the present thread runs from now on to `device`."""
        ...

    def synchronize(self) -> None:
        """Wait until the devices have finished what they were given."""
        ...

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What the framework's allocator holds on a device now, in bytes (see `backends/held.py`)."""
        ...

    def observe(self) -> Observation:
        """Begin to watch where operations run."""
        ...

    def rest(self) -> None:
        """Give up what stays in the framework between two cells that are watched, until the next is."""
        ...

    def stays(self, values: Mapping[str, object], device: Device) -> str | None:
        """Which of the user's values stay on another device than the one asked for, in one sentence.

        `values` are those that a cell uses, by name; None where nothing of them stays elsewhere. Reads the
        framework's own objects alone, and runs no code of the user's.
        """
        ...
