"""Measures a cell's GPU time with the counts that the driver keeps for this process.

This is for GPUs without CUPTI records. The counts are read when a cell begins and ends, and at intervals in
between. The recorder waits for the frameworks' GPU work at the beginning and at the end of the cell, so the
counts include exactly what the cell launched.
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
#: Seconds after which a sample searches again for clients, which the process may have opened since.
_SEARCH_EVERY = 1.0
#: Seconds for which a search counts as recent. A cell that begins while the last search is recent does not
#: search again, which saves about 2 ms on a Mac. It may miss a client that was opened since. The GPU time of
#: that client from before the cell then counts for the cell, but it is at most this long.
_RECENT = 0.05
#: The largest number of samples kept for a cell. If there are more, every other one is dropped and the
#: interval between samples that are kept doubles.
_MOST_SAMPLES = 2_000


class ClientMeter:
    """Measures the GPU time of cells with the counts of this process's clients. A process has one meter."""

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
        """Call `sample` at intervals. Return a function that stops this."""
        return self._sampler.add(sample, _EVERY, after=_EVERY)

    def read(self, search_after: float) -> Sequence[GpuClient]:
        """Return the clients, after a new search if the last one was at least `search_after` seconds ago."""
        with self._lock:
            search = self.now() - self._searched >= search_after
            clients = self.clients.read(search)
            if search:
                self._searched = self.now()
            return clients

    def stop(self) -> None:
        """Forget all clients. The next cell searches for them again."""
        with self._lock:
            self.clients.close()
            self._searched = -math.inf


class CellClients:
    """The measurement of a cell, created by `ClientMeter.cell_begins`.

    The counts include only work that is done, so the caller waits for the frameworks' GPU work before
    `starts` and before `finish`. The methods are called in this order: `starts`, `wait`, `ends`, and `finish`
    or `finish_within`. `abandon` ends the measurement at any time. `samples` serve only the tests.
    """

    recorded = False  # GPU work has no records here, so the recorder must wait for it

    def __init__(self, meter: ClientMeter) -> None:
        self._meter = meter
        self._lock = threading.Lock()
        self._why: Sentence | None = None
        self._reads = 0
        self._seen_keys: set[str] = set()
        #: Seconds since the cell's beginning, and the GPU time of each GPU up to then, summed over engines.
        self.samples: list[tuple[float, dict[str, float]]] = []
        self._sample_interval = 0.0
        self.stop: Callable[[], object] = lambda: None
        self._growth = ClientGrowth()
        self._begun = meter.now()

    def starts(self) -> None:
        """Read the counts at the beginning of the cell's code."""
        with self._lock:
            self._growth.begin(self._read(_RECENT))
            self._begun = self._meter.now()
        self.stop = self._meter.sample_while_running(self.sample)

    def ends(self) -> None:
        """Do nothing: `finish` reads the counts."""

    def sample(self) -> None:
        """Take a sample, on the sampler's thread."""
        with self._lock:
            try:
                self._add(self._meter.read(_SEARCH_EVERY))
            except (OSError, CounterError):  # the result needs only the reads at the beginning and the end
                return
            at = self._meter.now() - self._begun
            if not self.samples or at - self.samples[-1][0] >= self._sample_interval:
                self.samples.append((at, self._growth.seconds()))
            if len(self.samples) > _MOST_SAMPLES:
                self.samples = self.samples[::2]
                self._sample_interval = at / _MOST_SAMPLES * 2

    def lanes_so_far(self) -> tuple[DeviceLane, ...]:
        """Return no lanes: a driver's counts move in steps too coarse for them."""
        return ()

    def abandon(self) -> None:
        """Stop without a result."""
        self.stop()

    def wait(self) -> None:
        """Do nothing: the backends have already waited for the frameworks' work."""

    def finish_within(self, seconds: float) -> GpuFigures:
        """Return the same as `finish`, without waiting."""
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
        # The keys of all clients seen include those of the present ones. If there are more, a client has
        # gone, and its count with it.
        if self._seen_keys > {client.key for client in clients}:
            return ENDED
        why = self._meter.clients.why_none(clients)
        if why is None and not any(time.most for time in busy.values()):
            why = UNCHANGED
        return busy if why is None else why

    def _read(self, search_after: float) -> Sequence[GpuClient]:
        """Return the clients at the beginning or the end of the cell.

        If they cannot be read, store the reason and return no clients.
        """
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
        self._seen_keys.update(client.key for client in clients)
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
