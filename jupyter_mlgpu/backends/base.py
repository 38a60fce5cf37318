"""What the recorder asks of a framework: the contract that every backend keeps.

`jupyter_mlgpu.testing.FakeBackend` is a public example; tests/integration holds the suite that every
backend passes. No method may start the framework (import it, initialise its context) by itself:
the user's next line may still want to configure it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.record import RanOn, Reading


@dataclass(frozen=True, slots=True)
class Device:
    """One device of a framework: our short `name` (`gpu:1`), its `kind` (cpu, cuda, metal, rocm)."""

    framework: str
    name: str
    kind: str
    native_name: str


@dataclass(frozen=True, slots=True)
class Observed:
    """What was seen while a cell ran: where operations ran (None: not known) and the allocator's peak."""

    ran_on: tuple[RanOn, ...] | None
    why_missing: str | None
    readings: tuple[Reading, ...] = ()


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
        """The devices a cell can be sent to."""
        ...

    def enter(self, device: Device) -> Scope:
        """Send what the present thread runs from now on to `device`."""
        ...

    def synchronize(self) -> None:
        """Wait until the devices have finished what they were given."""
        ...

    def observe(self) -> Observation:
        """Begin to watch where operations run."""
        ...
