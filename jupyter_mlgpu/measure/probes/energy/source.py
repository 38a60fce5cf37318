"""The interface of an energy counter. Each kind of counter has a module in this folder."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.reading import Scope, Source
from jupyter_mlgpu.record.sentence import Sentence


class EnergyCounter(Protocol):
    """A counter of joules that moves every `refresh` seconds and restarts from 0 at `wraps_at`."""

    @property
    def refresh(self) -> float:
        """Seconds between two steps."""
        ...

    @property
    def wraps_at(self) -> float | None:
        """Joules at which it restarts; None if it does not."""
        ...

    def joules(self) -> NvmlAnswer[float]:
        """Return the counter's value now."""
        ...

    def watts(self) -> float | None:
        """Return the power drawn lately, None if there is no gauge."""
        ...


class EnergySource(Struct, frozen=True):
    """Counters whose sum is one reading.

    `kind` is the source in readings, `name` their detail; `device` is None for CPUs. `every` is the sampling
    interval in seconds. `quick`: a sample is cheap enough for the cell's own thread.
    """

    name: Sentence
    kind: Source
    device: str | None
    scope: Scope
    counters: tuple[EnergyCounter, ...]
    every: float
    quick: bool
