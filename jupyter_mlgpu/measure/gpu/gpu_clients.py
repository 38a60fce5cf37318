"""What a driver counts of the GPU time of this process, and how long a GPU was busy by it.

A process opens a GPU as one or several clients, and the driver counts nanoseconds for each of them, by engine
where it tells engines apart. Such counts are of work, not of time: two engines may work at once. So the busy
time lies between that of the busiest engine and the sum of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from jupyter_mlgpu.record.reading import Source
from jupyter_mlgpu.record.sentence import Sentence, say

#: Growth within a cell, in multiples of its length, from which on a count cannot be right: a GPU has a
#: handful of engines, and the most that one of them was seen to stand for is 4 (Intel's compute engines).
_MOST = 64
#: Seconds that such a count may be late, since drivers add up at intervals of their own.
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
    """A driver's count that is none."""


@dataclass(frozen=True, slots=True)
class GpuClient:
    """One client of a GPU that belongs to this process, at one moment.

    `gpu` is the device as a reading names it. `key` tells the client from all others, for as long as it is
    there. `counts` are nanoseconds by engine, `capacity` how many equal engines such a name stands for, where
    it is not one. `driver` is the driver's name.
    """

    gpu: str
    key: str
    counts: Mapping[str, int]
    capacity: Mapping[str, int] = field(default_factory=dict)
    driver: str = ""


class GpuClients(Protocol):
    """Where a platform tells of this process's clients. `source` and `detail` are those of a reading."""

    source: Source
    detail: Sentence

    def read(self, search: bool) -> Sequence[GpuClient]:
        """Return this process's clients; without `search`, those known already that are still there.

        Raises OSError or CounterError where they cannot be read.
        """
        ...

    def why_none(self, clients: Sequence[GpuClient]) -> Sentence | None:
        """Return why these clients tell no GPU time; None where they may."""
        ...

    def close(self) -> None:
        """Give up what is remembered of the clients."""


class BusyTime(NamedTuple):
    """Seconds in which a GPU was busy, at least and at most."""

    least: float
    most: float


class ClientGrowth:
    """How much the counts of this process's clients have grown since the cell began."""

    def __init__(self) -> None:
        self._first: dict[str, Mapping[str, int]] = {}
        self._last: dict[str, GpuClient] = {}
        #: Whether a count was seen to go backwards.
        self.went_back = False

    def begin(self, clients: Iterable[GpuClient]) -> None:
        """Take over the counts with which the cell begins."""
        self._first = {one.key: one.counts for one in clients}

    def add(self, clients: Iterable[GpuClient]) -> None:
        """Take over later counts; a client that was not there at first began at 0."""
        for one in clients:
            before = self._last.get(one.key)
            if before is not None and any(
                one.counts.get(engine, 0) < count for engine, count in before.counts.items()
            ):
                self.went_back = True
                continue
            self._last[one.key] = one

    def seconds(self) -> dict[str, float]:
        """Return the growth of each GPU's counts, added up."""
        sums: dict[str, float] = dict.fromkeys((one.gpu for one in self._last.values()), 0.0)
        for one in self._last.values():
            sums[one.gpu] += sum(self._grown(one).values()) / 1e9
        return sums

    def busy(self, elapsed: float) -> dict[str, BusyTime] | Sentence:
        """Return how long each GPU was busy in a cell of `elapsed` seconds, or why that is not known."""
        if self.went_back:
            return BACKWARDS
        engines: dict[str, dict[str, float]] = {}
        for one in self._last.values():
            of_gpu = engines.setdefault(one.gpu, {})
            for engine, grown in self._grown(one).items():
                of_gpu[engine] = of_gpu.get(engine, 0.0) + grown / 1e9
        if any(sum(one.values()) > _MOST * elapsed + _LATE for one in engines.values()):
            return IMPLAUSIBLE
        return {gpu: self._between(gpu, of_gpu, elapsed) for gpu, of_gpu in engines.items()}

    def _between(self, gpu: str, engines: Mapping[str, float], elapsed: float) -> BusyTime:
        capacity: dict[str, int] = {}
        for one in self._last.values():
            if one.gpu == gpu:
                capacity.update(one.capacity)
        busiest = max((grown / capacity.get(engine, 1) for engine, grown in engines.items()), default=0.0)
        return BusyTime(min(busiest, elapsed), min(sum(engines.values()), elapsed))

    def _grown(self, client: GpuClient) -> dict[str, int]:
        first = self._first.get(client.key, {})
        return {engine: count - first.get(engine, 0) for engine, count in client.counts.items()}
