"""Energy while a cell runs, from every counter of this machine. Readings of several are never added up.

The sampler's thread reads the counters with time stamps. They are read once more at the cell's end if that
is cheap. `counter_energy.py` computes energy and uncertainty from the samples. The machine's counters are
found while the first cell runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct

from jupyter_mlgpu.measure.probes.energy import nvidia, rapl
from jupyter_mlgpu.measure.probes.energy.counter_energy import CounterEnergy, Energy
from jupyter_mlgpu.measure.probes.energy.source import EnergyCounter, EnergySource
from jupyter_mlgpu.measure.probes.gpus import Gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: The last sample is taken on the cell's own thread if it takes at most this part of the cell's time.
LAST_SAMPLE_SHARE = 0.005

#: Seconds before the first sample of a cell. A shorter cell has no measurable energy, and must not wait:
#: while NVML reads the energy (3.5 ms), it answers no other query.
FIRST_SAMPLE = 0.01

NOT_FOUND_YET = say("When this cell ended, the search for this machine's energy counters was still running.")


class Sources(Struct, frozen=True):
    """The counters of this machine; `why_none` says in sentences why others are missing."""

    sources: tuple[EnergySource, ...]
    why_none: Sentence


class EnergyCounters:
    """The probe of all sampled counters: a reading for each source."""

    quantity = "energy"

    def __init__(
        self, sampler: Sampler, sources: Lazy[Sources], now: Callable[[], float] = real_time.perf_counter
    ) -> None:
        self._sampler = sampler
        self._sources = sources
        self._now = now

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin. Returns a function that ends the measurement and returns the readings."""
        known = self._sources.known
        if known is not None and not known.sources:
            return lambda: [missing(self.quantity, known.why_none)]
        cell = _Cell(self._sources, self._now)
        cell.begin(quick=True)
        every = min((source.every for source in known.sources), default=0.25) if known else 0.25
        # If the counters are not known yet, they are looked up at once.
        end = self._sampler.add(cell.sample, every, 0.0 if known is None else FIRST_SAMPLE)

        def stop() -> Sequence[Reading]:
            failed = end()
            if failed is not None:
                return [
                    missing(
                        self.quantity, say("Reading the energy counters failed ({failed}).", failed=failed)
                    )
                ]
            return cell.readings()

        return stop


class _Cell:
    """The counters over one cell."""

    def __init__(self, sources: Lazy[Sources], now: Callable[[], float]) -> None:
        self._sources = sources
        self._now = now
        self._begun = now()
        self._open: list[_SourceOverCell] | None = None

    def begin(self, *, quick: bool) -> None:
        """Open the counters; `quick`: only if they are known, and read only those that are cheap to read."""
        if self._open is None and (not quick or self._sources.known is not None):
            self._open = [_SourceOverCell(source, self._now) for source in self._sources.get().sources]
            for source in self._open:
                if source.source.quick:
                    source.sample()

    def sample(self) -> None:
        """Sample everything that is due, on the sampler's thread."""
        self.begin(quick=False)
        for source in self._open or ():
            source.sample_if_due()

    def readings(self) -> list[Reading]:
        """Return a reading for each source, or a reason, when the cell has ended."""
        ended = self._now()
        if self._open is None:
            return [missing("energy", NOT_FOUND_YET)]
        if not self._open:
            return [missing("energy", self._sources.get().why_none)]
        return [source.reading(self._begun, ended, len(self._open)) for source in self._open]


class _SourceOverCell:
    """One source over one cell."""

    def __init__(self, source: EnergySource, now: Callable[[], float]) -> None:
        self.source = source
        self._now = now
        self._energies = [CounterEnergy(counter.refresh, counter.wraps_at) for counter in source.counters]
        self._sampled_at: float | None = None
        self._took = math.inf

    def sample_if_due(self) -> None:
        if self._sampled_at is None or self._now() - self._sampled_at > 0.9 * self.source.every:
            self.sample()

    def sample(self, *, last: bool = False) -> None:
        begun = self._now()
        for counter, energy in zip(self.source.counters, self._energies, strict=True):
            if self._sampled_at is None:
                energy.before = counter.watts()
            self._sample(counter, energy, last)
        self._sampled_at = self._now()
        # The shortest time counts: on the sampler's thread a sample also waits for the cell's Python.
        self._took = min(self._took, self._sampled_at - begun)

    def _sample(self, counter: EnergyCounter, energy: CounterEnergy, last: bool) -> None:
        before = self._now()
        answer = counter.joules()
        if answer.value is None:
            energy.fail(answer.reason)
        else:
            energy.add((before + self._now()) / 2, answer.value, last=last)

    def reading(self, begun: float, ended: float, sources: int) -> Reading:
        if self.source.quick or self._took * sources <= LAST_SAMPLE_SHARE * (ended - begun):
            self.sample(last=True)
        return reading([energy.between(begun, ended) for energy in self._energies], self.source)


def reading(parts: Sequence[Energy | Sentence], source: EnergySource) -> Reading:
    """Return one reading for a source's counters together, or the reason of the first that is unknown."""
    known = [part for part in parts if isinstance(part, Energy)]
    if len(known) < len(parts):
        why = next(part for part in parts if isinstance(part, str))
        return missing("energy", why, scope=source.scope, device=source.device)
    return Reading(
        "energy",
        sum(part.joules for part in known),
        "J",
        source.scope,
        source.kind,
        min(part.samples for part in known),
        uncertainty=sum(part.uncertainty for part in known),
        device=source.device,
        detail=source.name,
    )


def find(gpus: Lazy[Gpus], root: Path = Path("/")) -> Sources:
    """Return the counters of NVIDIA GPUs and CPUs; `root` is the file system to read."""
    of_gpus, why_no_gpu = nvidia.sources(gpus.get())
    of_processor, why_no_processor = rapl.sources(root)
    reasons = (why_no_gpu, why_no_processor)
    return Sources((*of_gpus, *of_processor), joined(*filter(None, reasons)))
