"""What the probe of energy asks of a counter; one module beside this one for each kind there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from jupyter_mlgpu.measure.probes.nvml import NvmlAnswer
from jupyter_mlgpu.record.reading import Scope, Source
from jupyter_mlgpu.record.sentence import Sentence


class EnergyCounter(Protocol):
    """A counter of joules that moves every `refresh` seconds and starts again from 0 at `wraps_at`."""

    @property
    def refresh(self) -> float:
        """Seconds between two steps."""
        ...

    @property
    def wraps_at(self) -> float | None:
        """Joules at which it starts again; None: it does not."""
        ...

    def joules(self) -> NvmlAnswer[float]:
        """What it shows now."""
        ...

    def watts(self) -> float | None:
        """What was drawn lately; None where no gauge tells."""
        ...


@dataclass(frozen=True)
class EnergySource:
    """Counters whose sum is one reading.

    `kind` is what readings call their source, `name` its detail; `device` is None for processors. `every` is
    how often to look, in seconds; `quick`: a look is cheap enough for the cell's own thread.
    """

    name: Sentence
    kind: Source
    device: str | None
    scope: Scope
    counters: tuple[EnergyCounter, ...]
    every: float
    quick: bool
