"""The ordered, bounded and observable records of this kernel or script.

The store is thread-safe: the notebook's main thread adds records while the browser asks for them through
another thread. A subscriber that raises is removed, because an error in a consumer must never fail the user's
cell.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import takewhile
from typing import NamedTuple

from jupyter_mlgpu.record.packed import PackedRecords, Packer
from jupyter_mlgpu.record.record import Record

Subscriber = Callable[[Record], None]
_Key = tuple[str, int]
_Code = tuple[str, str | None, str | None]

#: The number of newest records that are kept unpacked.
NEWEST = 1_000


class Extended(NamedTuple):
    """The number of records that were added, and of older ones that were left out for lack of room."""

    added: int
    left_out: int


class Store:
    """Records in the order of their arrival.

    Of those made here, at most `capacity` are kept; the oldest go first. The same number of records loaded
    from files is kept beside them. These never displace a record made here.
    """

    def __init__(self, capacity: int = 10_000, newest: int = NEWEST) -> None:
        self._capacity = capacity
        self._newest = newest
        self._packer = Packer()
        self._entries: dict[_Key, Record | bytes] = {}
        self._loaded: set[_Key] = set()
        # Keys of the newest records, which are not packed, and these records by cell for quick look-up.
        self._whole: deque[_Key] = deque()
        self._runs: dict[_Code, dict[_Key, Record]] = {}
        self._subscribers: list[Subscriber] = []
        self._lock = threading.Lock()
        self._next = 0
        self.dropped = 0
        #: Called after all records were removed.
        self.on_clear: Callable[[], None] = lambda: None

    def add(self, record: Record) -> None:
        """Append a record and pass it to every subscriber. A record with the same key is replaced."""
        with self._lock:
            self._insert(record)
            while len(self._entries) - len(self._loaded) > self._capacity:
                self._let_go_of_the_oldest()
            subscribers = list(self._subscribers)
        for subscriber in subscribers:
            try:
                subscriber(record)
            except Exception:
                self.unsubscribe(subscriber)

    def extend(self, records: Iterable[Record]) -> Extended:
        """Add records that were loaded and are not held yet: the last ones for which there is room.

        Calls no subscribers.
        """
        with self._lock:
            new = [record for record in records if record.key not in self._entries]
            room = self._capacity - len(self._loaded)
            kept = new[max(0, len(new) - room) :]
            for record in kept:
                self._loaded.add(record.key)
                self._insert(record)
        return Extended(len(kept), len(new) - len(kept))

    def records(self) -> Sequence[Record]:
        """Return all records held, oldest first."""
        with self._lock:
            return PackedRecords(tuple(self._entries.values()), self._packer)

    def __len__(self) -> int:
        return len(self._entries)

    def runs(self, record: Record) -> tuple[Record, ...]:
        """Return the newest records of the same cell, code and kernel as `record`, oldest first."""
        with self._lock:
            return tuple(self._runs.get(record.code, {}).values())

    def made_during(self, cell: Record) -> tuple[Record, ...]:
        """Return the newest records of blocks traced while `cell` ran, oldest first.

        `cell` is not held yet.
        """
        mine = takewhile(
            lambda one: one.run.id == cell.run.id and one.cell.sequence > cell.cell.sequence,
            reversed(self.records()),
        )
        return tuple(mine)[::-1]

    def placed(self) -> tuple[int, Sequence[Record]]:
        """Return the place of the oldest record held, and all records. `clear` does not reset places."""
        with self._lock:
            held = PackedRecords(tuple(self._entries.values()), self._packer)
            return self._next - len(held), held

    def place(self, key: _Key) -> int | None:
        """Return a record's place, which it keeps when it is replaced, or None if it is not held."""
        with self._lock:
            if key not in self._entries:
                return None
            newer = takewhile(lambda other: other != key, reversed(self._entries))
            return self._next - 1 - sum(1 for _ in newer)

    def get(self, key: _Key) -> Record | None:
        """Return the record with this run id and sequence, or None if it is not held."""
        with self._lock:
            entry = self._entries.get(key)
            return self._packer.unpack(entry) if isinstance(entry, bytes) else entry

    def clear(self) -> None:
        """Remove all records."""
        with self._lock:
            self._packer = Packer()
            self._entries.clear()
            self._loaded.clear()
            self._whole.clear()
            self._runs.clear()
            self.dropped = 0
        self.on_clear()

    def subscribe(self, subscriber: Subscriber) -> None:
        """Call `subscriber(record)` for each record added from now on."""
        with self._lock:
            self._subscribers.append(subscriber)

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Stop calling `subscriber`. One that is not subscribed is ignored."""
        with self._lock:
            if subscriber in self._subscribers:
                self._subscribers.remove(subscriber)

    def _insert(self, record: Record) -> None:
        key = record.key
        if isinstance(self._entries.get(key), bytes):
            self._entries[key] = self._packer.pack(record)
            return
        if key not in self._entries:
            self._next += 1
            self._whole.append(key)
        self._entries[key] = record
        self._runs.setdefault(record.code, {})[key] = record
        while len(self._whole) > self._newest:
            oldest = self._whole.popleft()
            whole = self._entries[oldest]
            if isinstance(whole, Record):
                self._forget_run(whole)
                self._entries[oldest] = self._packer.pack(whole)

    def _let_go_of_the_oldest(self) -> None:
        oldest = next(iter(self._entries))
        entry = self._entries.pop(oldest)
        if isinstance(entry, Record):
            self._whole.popleft()
            self._forget_run(entry)
        self._loaded.discard(oldest)
        self.dropped += 1

    def _forget_run(self, record: Record) -> None:
        runs = self._runs[record.code]
        del runs[record.key]
        if not runs:
            del self._runs[record.code]
