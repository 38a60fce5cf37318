"""The interface of a probe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from jupyter_mlgpu.record.reading import Reading

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.probes.gpus import Gpus
    from jupyter_mlgpu.measure.probes.lazy import Lazy
    from jupyter_mlgpu.measure.probes.sampler import Sampler


class ProbeInstruments(Struct, frozen=True):
    """The instruments of probes: the sampler, and the GPUs once they are found."""

    sampler: Sampler
    gpus: Lazy[Gpus]


class Probe(Protocol):
    """Measures one quantity over a cell. Several measurements may be open at once, one inside another."""

    quantity: str

    def start(self) -> Callable[[], Reading | Sequence[Reading]]:
        """Take the first reading. Returns a function that takes the second and returns the result.

        A quantity with several sources, such as two GPUs, has a reading for each.
        """
        ...


class DeferredProbe:
    """A probe whose module is imported when the first cell begins, to load the extension faster."""

    def __init__(self, quantity: str, make: Callable[[], Probe]) -> None:
        self.quantity = quantity
        self._make = make
        self._probe: Probe | None = None

    def start(self) -> Callable[[], Reading | Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the reading."""
        if self._probe is None:
            self._probe = self._make()
        return self._probe.start()
