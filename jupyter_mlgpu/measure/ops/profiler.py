"""The interface of a framework's profiler; `jupyter_mlgpu.testing.FakeProfiler` is a public example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.record.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason for having no profile, in a sentence; `running`: a profiler of the user's own is on."""

    reason: Sentence
    running: bool = False


class Session(Protocol):
    """A profiler that is on."""

    def turn_off(self) -> None:
        """Turn it off; `stop` reads it later. Never raises, and does nothing the second time."""
        ...

    def stop(self) -> Profile:
        """Turn it off and read it. Raises if the profile is lost; the profiler is then off all the same."""
        ...

    def abandon(self) -> None:
        """Turn it off without reading it. Never raises."""
        ...


class Profiler(Protocol):
    """The profiler of one framework that is loaded."""

    framework: str

    def start(self, shapes: bool = False) -> Session | Refused:
        """Turn it on. Never starts the framework, and never touches a profiler of the user's own.

        With `shapes` it records input shapes and FLOP if it can, whatever the cost.
        """
        ...
