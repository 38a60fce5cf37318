"""What the recorder asks of a probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from jupyter_mlgpu.record.reading import Reading

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy
    from jupyter_mlgpu.measure.probes.sampler import Sampler


@dataclass(frozen=True, slots=True)
class ProbeInstruments:
    """What a probe may measure with: the one sampling thread, and the GPUs once they are found."""

    sampler: Sampler
    gpus: Lazy[Gpus]


class Probe(Protocol):
    """Measures one quantity over a cell; several measurements may be open at once, one inside another."""

    quantity: str

    def start(self) -> Callable[[], Reading | Sequence[Reading]]:
        """Take the first reading; calling what is returned takes the second and gives the result.

        A quantity with several sources, such as two GPUs, gives a reading of each.
        """
        ...


class Late:
    """A probe whose code is loaded when the first cell begins: loading the extension does not wait for it."""

    def __init__(self, quantity: str, make: Callable[[], Probe]) -> None:
        self.quantity = quantity
        self._make = make
        self._probe: Probe | None = None

    def start(self) -> Callable[[], Reading | Sequence[Reading]]:
        """Begin; what is returned gives the reading when it is called."""
        if self._probe is None:
            self._probe = self._make()
        return self._probe.start()
