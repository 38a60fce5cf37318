"""A driver's counts of this process's GPU time, and the GPU busy time that follows from them.

A process opens a GPU as one or several clients. The driver counts nanoseconds for each client, and for each
engine if it distinguishes engines. The counts are of work, not of time: two engines may work at once. So the
busy time lies between that of the busiest engine and the sum of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jupyter_mlgpu.record.reading import Source
from jupyter_mlgpu.record.sentence import Sentence, say

#: A count that grows within a cell by more than this multiple of its length cannot be right: a GPU has a
#: handful of engines, and the most known for one name is 4 (Intel's compute engines).
_MOST = 64
#: Seconds that a count may be late: drivers update them at intervals of their own.
_LATE = 1.0

BACKWARDS = say("The driver's count of this process's GPU time went backwards, so its GPU time is not known.")
IMPLAUSIBLE = say(
    "The driver counted more GPU time than this cell can have had, so its GPU time is not known."
)
ENDED = say(
    "A part of this process that used the GPU closed it in this cell, and the driver's count of its GPU time "
    "went with it."
)
UNCHANGED = say(
    "The driver counted no GPU time for this process in this cell. Its count is coarse, so short work may be "
    "missing from it."
)


class CounterError(ValueError):
    """A driver's count that is not a valid number."""


@dataclass(frozen=True, slots=True)
class GpuClient:
    """One client of a GPU that belongs to this process, at one moment.

    `gpu` is the device as in readings. `key` identifies the client for as long as it exists. `counts` are
    nanoseconds by engine, `capacity` the number of equal engines that a name stands for, if not one.
    `driver` is the driver's name.
    """

    gpu: str
    key: str
    counts: Mapping[str, int]
    capacity: Mapping[str, int] = field(default_factory=dict)
    driver: str = ""


class GpuClients(Protocol):
    """Access to this process's clients on a platform. `source` and `detail` are those of a reading."""

    source: Source
    detail: Sentence

    def read(self, search: bool) -> Sequence[GpuClient]:
        """Return this process's clients; without `search`, only known ones that still exist.

        Raises OSError or CounterError if they cannot be read.
        """
        ...

    def why_none(self, clients: Sequence[GpuClient]) -> Sentence | None:
        """Return the reason if these clients have no GPU time, None if they may have some."""
        ...

    def close(self) -> None:
        """Release what is remembered of the clients."""


class BusyTime(NamedTuple):
    """Seconds in which a GPU was busy, at least and at most."""

    least: float
    most: float


class ClientGrowth:
    """The growth of the counts of this process's clients since the cell began."""

    def __init__(self) -> None:
        self._first: dict[str, Mapping[str, int]] = {}
        self._last: dict[str, GpuClient] = {}
        #: True if a count went backwards.
        self.went_back = False

    def begin(self, clients: Iterable[GpuClient]) -> None:
        """Set the counts with which the cell begins."""
        self._first = {client.key: client.counts for client in clients}

    def add(self, clients: Iterable[GpuClient]) -> None:
        """Add later counts. A client that did not exist at the beginning started at 0."""
        for client in clients:
            before = self._last.get(client.key)
            if before is not None and any(
                client.counts.get(engine, 0) < count for engine, count in before.counts.items()
            ):
                self.went_back = True
                continue
            self._last[client.key] = client

    def seconds(self) -> dict[str, float]:
        """Return the growth of each GPU's counts, added up over clients and engines."""
        sums: dict[str, float] = dict.fromkeys((client.gpu for client in self._last.values()), 0.0)
        for client in self._last.values():
            sums[client.gpu] += sum(self._grown(client).values()) / 1e9
        return sums

    def busy(self, elapsed: float) -> dict[str, BusyTime] | Sentence:
        """Return how long each GPU was busy in a cell of `elapsed` seconds, or why that is unknown."""
        if self.went_back:
            return BACKWARDS
        engines: dict[str, dict[str, float]] = {}
        for client in self._last.values():
            of_gpu = engines.setdefault(client.gpu, {})
            for engine, grown in self._grown(client).items():
                of_gpu[engine] = of_gpu.get(engine, 0.0) + grown / 1e9
        if any(sum(times.values()) > _MOST * elapsed + _LATE for times in engines.values()):
            return IMPLAUSIBLE
        return {gpu: self._between(gpu, of_gpu, elapsed) for gpu, of_gpu in engines.items()}

    def _between(self, gpu: str, engines: Mapping[str, float], elapsed: float) -> BusyTime:
        capacity: dict[str, int] = {}
        for client in self._last.values():
            if client.gpu == gpu:
                capacity.update(client.capacity)
        busiest = max((grown / capacity.get(engine, 1) for engine, grown in engines.items()), default=0.0)
        return BusyTime(min(busiest, elapsed), min(sum(engines.values()), elapsed))

    def _grown(self, client: GpuClient) -> dict[str, int]:
        first = self._first.get(client.key, {})
        return {engine: count - first.get(engine, 0) for engine, count in client.counts.items()}
