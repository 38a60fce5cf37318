"""The records of this kernel or script: ordered, bounded, observable.

Safe to call from several threads: the notebook's main thread adds records while the browser asks for
them through another. A subscriber that raises is dropped, because nothing to the right of the store
may ever fail the user's cell.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from itertools import takewhile

from jupyter_mlgpu.record import Record

Subscriber = Callable[[Record], None]


class Store:
    """Records in the order of their arrival; the oldest are let go beyond `capacity`."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._capacity = capacity
        self._records: dict[tuple[str, int], Record] = {}
        # The same, by cell: looked up after every cell, however many there are.
        self._runs: dict[tuple[str, str | None, str | None], dict[tuple[str, int], Record]] = {}
        self._subscribers: list[Subscriber] = []
        self._lock = threading.Lock()
        self._places: dict[tuple[str, int], int] = {}
        self._next = 0
        self.dropped = 0
        #: Called when all records are forgotten.
        self.on_clear: Callable[[], None] = lambda: None

    def add(self, record: Record) -> None:
        """Append a record and tell every subscriber; a record already held is replaced."""
        with self._lock:
            self._insert(record)
            subscribers = list(self._subscribers)
        for subscriber in subscribers:
            try:
                subscriber(record)
            except Exception:
                self.unsubscribe(subscriber)

    def extend(self, records: Iterable[Record]) -> int:
        """Add records that are not held yet, without calling subscribers; returns how many were new."""
        with self._lock:
            new = [record for record in records if record.key not in self._records]
            for record in new:
                self._insert(record)
        return len(new)

    def records(self) -> tuple[Record, ...]:
        """All records held, oldest first."""
        with self._lock:
            return tuple(self._records.values())

    def __len__(self) -> int:
        """How many records are held."""
        return len(self._records)

    def runs(self, record: Record) -> tuple[Record, ...]:
        """Those of the same cell with the same code, in the same kernel, oldest first."""
        with self._lock:
            return tuple(self._runs.get(record.code, {}).values())

    def made_during(self, cell: Record) -> tuple[Record, ...]:
        """Those of the blocks traced while `cell`, which is not held yet, ran: the newest; oldest first."""
        with self._lock:
            mine = takewhile(
                lambda one: one.run.id == cell.run.id and one.cell.sequence > cell.cell.sequence,
                reversed(self._records.values()),
            )
            return tuple(mine)[::-1]

    def placed(self) -> tuple[int, tuple[Record, ...]]:
        """The place of the oldest record held, and all of them; places count on, also after `clear`."""
        with self._lock:
            return self._next - len(self._records), tuple(self._records.values())

    def place(self, key: tuple[str, int]) -> int | None:
        """The place of a record, which it keeps when it is replaced; None where it is not held (any more)."""
        with self._lock:
            return self._places.get(key)

    def get(self, key: tuple[str, int]) -> Record | None:
        """The record with this run id and sequence, None where it is not held (any more)."""
        with self._lock:
            return self._records.get(key)

    def clear(self) -> None:
        """Forget all records."""
        with self._lock:
            self._records.clear()
            self._runs.clear()
            self._places.clear()
            self.dropped = 0
        self.on_clear()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber(record)` for each record added from now on."""
        with self._lock:
            self._subscribers.append(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Stop calling `subscriber`; one that is not subscribed is ignored."""
        with self._lock:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

    def _insert(self, record: Record) -> None:
        if record.key not in self._records:
            self._places[record.key] = self._next
            self._next += 1
        self._records[record.key] = record
        self._runs.setdefault(record.code, {})[record.key] = record
        while len(self._records) > self._capacity:
            oldest = next(iter(self._records))
            code = self._records[oldest].code
            del self._records[oldest], self._places[oldest], self._runs[code][oldest]
            if not self._runs[code]:
                del self._runs[code]
            self.dropped += 1
