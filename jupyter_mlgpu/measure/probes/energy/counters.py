"""Energy while a cell runs, of everything here that has a counter; readings of several are never added up.

The counters are read on the sampler's thread, with time stamps, and once more when the cell has ended where
that costs it little; `counted.py` makes energy and uncertainty of them. Which counters there are is found
while the first cell runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_mlgpu.measure.probes.energy import nvidia, rapl
from jupyter_mlgpu.measure.probes.energy.counted import Counted, Energy
from jupyter_mlgpu.measure.probes.energy.source import EnergyCounter, EnergySource
from jupyter_mlgpu.measure.probes.gpus import Gpus
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: The last look is taken on the cell's own thread where it takes at most this part of the cell's time.
LAST_LOOK_SHARE = 0.005

#: Seconds before the first look of all. A cell shorter than that has no energy that could be told, and must
#: not wait: while NVML is asked for energy (3.5 ms), it answers no other question.
FIRST_SAMPLE = 0.01

NOT_FOUND_YET = say("When this cell ended, the search for this machine's energy counters was still running.")


@dataclass(frozen=True)
class Sources:
    """The counters there are; `why_none` says in sentences why others are not here."""

    sources: tuple[EnergySource, ...]
    why_none: Sentence


class EnergyCounters:
    """The probe of all counters that are looked at: a reading of each source."""

    quantity = "energy"

    def __init__(
        self, sampler: Sampler, sources: Lazy[Sources], now: Callable[[], float] = real_time.perf_counter
    ) -> None:
        self._sampler = sampler
        self._sources = sources
        self._now = now

    def start(self) -> Callable[[], Sequence[Reading]]:
        """Begin; what is returned gives the reading when it is called."""
        known = self._sources.known
        if known is not None and not known.sources:
            return lambda: [missing(self.quantity, known.why_none)]
        cell = _Cell(self._sources, self._now)
        cell.begin(quick=True)
        every = min((source.every for source in known.sources), default=0.25) if known else 0.25
        # What there is to look at is found out at once.
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
        self._open: list[_Open] | None = None

    def begin(self, *, quick: bool) -> None:
        """Open what is known; `quick`: only if it is, and only what costs the cell's thread little."""
        if self._open is None and (not quick or self._sources.known is not None):
            self._open = [_Open(source, self._now) for source in self._sources.get().sources]
            for one in self._open:
                if one.source.quick:
                    one.sample()

    def sample(self) -> None:
        """On the sampler's thread: everything that is due."""
        self.begin(quick=False)
        for one in self._open or ():
            one.sample_if_due()

    def readings(self) -> list[Reading]:
        """When the cell has ended: a reading of each source, or a reason."""
        ended = self._now()
        if self._open is None:
            return [missing("energy", NOT_FOUND_YET)]
        if not self._open:
            return [missing("energy", self._sources.get().why_none)]
        return [one.reading(self._begun, ended, len(self._open)) for one in self._open]


class _Open:
    """One source over one cell."""

    def __init__(self, source: EnergySource, now: Callable[[], float]) -> None:
        self.source = source
        self._now = now
        self._counted = [Counted(one.refresh, one.wraps_at) for one in source.counters]
        self._sampled_at: float | None = None
        self._took = math.inf

    def sample_if_due(self) -> None:
        if self._sampled_at is None or self._now() - self._sampled_at > 0.9 * self.source.every:
            self.sample()

    def sample(self, *, last: bool = False) -> None:
        begun = self._now()
        for counter, counted in zip(self.source.counters, self._counted, strict=True):
            if self._sampled_at is None:
                counted.before = counter.watts()
            self._sample(counter, counted, last)
        self._sampled_at = self._now()
        # The shortest time: on the other thread a look may also wait for the cell's Python.
        self._took = min(self._took, self._sampled_at - begun)

    def _sample(self, counter: EnergyCounter, counted: Counted, last: bool) -> None:
        before = self._now()
        told = counter.joules()
        if told.value is None:
            counted.lost(told.reason)
        else:
            counted.add((before + self._now()) / 2, told.value, last=last)

    def reading(self, begun: float, ended: float, sources: int) -> Reading:
        if self.source.quick or self._took * sources <= LAST_LOOK_SHARE * (ended - begun):
            self.sample(last=True)
        return reading([one.between(begun, ended) for one in self._counted], self.source)


def reading(parts: Sequence[Energy | Sentence], source: EnergySource) -> Reading:
    """One reading of the counters of a source together; the first reason where one of them is not known."""
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
    """The counters of NVIDIA GPUs and of processors; `root` is the file system to read."""
    of_gpus, why_no_gpu = nvidia.sources(gpus.get())
    of_processor, why_no_processor = rapl.sources(root)
    reasons = (why_no_gpu, why_no_processor)
    return Sources((*of_gpus, *of_processor), joined(*filter(None, reasons)))
