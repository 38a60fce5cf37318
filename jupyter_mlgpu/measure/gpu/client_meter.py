"""Measures a cell's GPU time by the driver's counts for this process, on GPUs without CUPTI records.

The counts are read when a cell begins and ends, and at intervals between. The frameworks' backends wait for
their work at both ends, so the counts include what the cell launched.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence

from jupyter_mlgpu.measure.gpu.gpu_clients import (
    ENDED,
    UNCHANGED,
    BusyTime,
    ClientGrowth,
    CounterError,
    GpuClient,
    GpuClients,
)
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.gpu_work import GpuFigures
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.strip import DeviceLane

#: Seconds between two samples of the counts.
_EVERY = 0.1
#: Seconds after which a sample searches for new clients again.
_SEARCH_EVERY = 1.0
#: A cell that begins within so many seconds of a search relies on it. A search on a Mac takes about 2 ms, and
#: a client that is younger than this can have brought no more GPU time of its own into the cell.
_RECENT = 0.05
#: Samples kept of a cell. When there are more, every other one is dropped and the interval doubles.
_SAMPLES = 2_000


class ClientMeter:
    """Measures GPU time of cells by the counts of this process's clients. There is one in a process."""

    def __init__(
        self,
        clients: GpuClients,
        sampler: Sampler,
        now: Callable[[], float] = real_time.perf_counter,
    ) -> None:
        self.clients = clients
        self.now = now
        self._sampler = sampler
        self._lock = threading.Lock()
        self._searched = -math.inf

    def cell_begins(self) -> CellClients:
        """Return the measurement of a cell that is about to begin."""
        return CellClients(self)

    def sample_while_running(self, sample: Callable[[], None]) -> Callable[[], object]:
        """Take samples at intervals. Returns a function that ends that."""
        return self._sampler.add(sample, _EVERY, after=_EVERY)

    def read(self, search_after: float) -> Sequence[GpuClient]:
        """Return the clients, after a new search if the last one is so many seconds ago."""
        with self._lock:
            search = self.now() - self._searched >= search_after
            clients = self.clients.read(search)
            if search:
                self._searched = self.now()
            return clients

    def stop(self) -> None:
        """Forget all clients, until the next cell."""
        with self._lock:
            self.clients.close()
            self._searched = -math.inf


class CellClients:
    """The measurement of a cell; made by `ClientMeter.cell_begins`. The cell's work has to be waited for."""

    recorded = False

    def __init__(self, meter: ClientMeter) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self._why: Sentence | None = None
        self._reads = 0
        self._present: set[str] = set()
        #: Seconds since the cell's beginning, and the GPU time of each GPU up to then, summed over engines.
        self.samples: list[tuple[float, dict[str, float]]] = []
        self._sample_interval = 0.0
        self.stop: Callable[[], object] = lambda: None
        self._growth = ClientGrowth()
        self._begun = meter.now()

    def starts(self) -> None:
        """Take the counts with which the cell begins; its code comes next."""
        with self._lock:
            self._growth.begin(self._read(_RECENT))
            self._begun = self._meter.now()
        self.stop = self._meter.sample_while_running(self.sample)

    def ends(self) -> None:
        """Do nothing: `finish` takes the counts."""

    def sample(self) -> None:
        """Take a sample, on the sampler's thread."""
        with self._lock:
            try:
                self._add(self._meter.read(_SEARCH_EVERY))
            except (OSError, CounterError):  # the reads at both ends are the ones that count
                return
            at = self._meter.now() - self._begun
            if not self.samples or at - self.samples[-1][0] >= self._sample_interval:
                self.samples.append((at, self._growth.seconds()))
            if len(self.samples) > _SAMPLES:
                self.samples = self.samples[::2]
                self._sample_interval = at / _SAMPLES * 2

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """Return no lanes: a driver's counts move in steps too coarse for them."""
        return ()

    def abandon(self) -> None:
        """Stop without a result."""
        self.stop()

    def wait(self) -> None:
        """Do nothing: the frameworks' own work is waited for already."""

    def finish_within(self, seconds: float) -> GpuFigures:
        """Return the same as `finish`, at once."""
        return self.finish()

    def when_done(self, tell: Callable[[GpuFigures], None]) -> None:
        """Do nothing: `finish` has returned everything."""

    def finish(self) -> GpuFigures:
        """Return the busy time of each GPU that worked for this process, or why it is not known."""
        self.stop()
        with self._lock:
            elapsed = self._meter.now() - self._begun
            clients = self._read(0.0)
            busy = self._busy(clients, elapsed)
            if isinstance(busy, str):
                source = self._meter.clients.source
                return GpuFigures([missing("device_time", busy, scope="process", source=source)], ())
            self.samples.append((elapsed, self._growth.seconds()))
            readings = [self._reading(gpu, time) for gpu, time in sorted(busy.items()) if time.most]
            return GpuFigures(readings, ())

    def _busy(self, clients: Sequence[GpuClient], elapsed: float) -> dict[str, BusyTime] | Sentence:
        if self._why is not None:
            return self._why
        busy = self._growth.busy(elapsed)
        if isinstance(busy, str):
            return busy
        if self._present > {client.key for client in clients}:
            return ENDED
        why = self._meter.clients.why_none(clients)
        if why is None and not any(time.most for time in busy.values()):
            why = UNCHANGED
        return busy if why is None else why

    def _read(self, search_after: float) -> Sequence[GpuClient]:
        """Return the clients at an end of the cell. If they cannot be read, keeps the reason."""
        try:
            clients = self._meter.read(search_after)
        except (OSError, CounterError) as error:
            self._why = say(
                "The driver's counts of GPU time could not be read ({error}).", error=words(error)
            )
            return ()
        self._add(clients)
        return clients

    def _add(self, clients: Sequence[GpuClient]) -> None:
        self._reads += 1
        self._present.update(client.key for client in clients)
        self._growth.add(clients)

    def _reading(self, gpu: str, time: BusyTime) -> Reading:
        half = (time.most - time.least) / 2
        clients = self._meter.clients
        return Reading(
            "device_time",
            (time.most + time.least) / 2,
            "s",
            "process",
            clients.source,
            self._reads,
            device=gpu,
            detail=clients.detail,
            uncertainty=half if half > 1e-9 else None,
        )
