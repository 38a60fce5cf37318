"""The records of this kernel or script: ordered, bounded, observable.

Safe to call from several threads: the notebook's main thread adds records while the browser asks for
them through another. A subscriber that raises is dropped, because nothing to the right of the store
may ever fail the user's cell.
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

#: So many of the newest records are kept as they are, the others packed.
NEWEST = 1_000


class Extended(NamedTuple):
    """How many records were added, and how many older ones found no room."""

    added: int
    left_out: int


class Store:
    """Records in the order of their arrival; the oldest are let go beyond `capacity` that were made here.

    As many others, loaded from files, stand among them: they let none go that was made here.
    """

    def __init__(self, capacity: int = 10_000, newest: int = NEWEST) -> None:
        self._capacity = capacity
        self._newest = newest
        self._packer = Packer()
        self._entries: dict[_Key, Record | bytes] = {}
        self._loaded: set[_Key] = set()
        # The newest, which are not packed; and by cell, looked up after every cell, however many there are.
        self._whole: deque[_Key] = deque()
        self._runs: dict[_Code, dict[_Key, Record]] = {}
        self._subscribers: list[Subscriber] = []
        self._lock = threading.Lock()
        self._next = 0
        self.dropped = 0
        #: Called when all records are forgotten.
        self.on_clear: Callable[[], None] = lambda: None

    def add(self, record: Record) -> None:
        """Append a record and tell every subscriber; a record already held is replaced."""
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
        """Add records that were not made here and are not held yet: the last ones for which there is room.

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
        """All records held, oldest first."""
        with self._lock:
            return PackedRecords(tuple(self._entries.values()), self._packer)

    def __len__(self) -> int:
        """How many records are held."""
        return len(self._entries)

    def runs(self, record: Record) -> tuple[Record, ...]:
        """Those of the same cell with the same code, in the same kernel, among the newest; oldest first."""
        with self._lock:
            return tuple(self._runs.get(record.code, {}).values())

    def made_during(self, cell: Record) -> tuple[Record, ...]:
        """Those of the blocks traced while `cell`, which is not held yet, ran: the newest; oldest first."""
        mine = takewhile(
            lambda one: one.run.id == cell.run.id and one.cell.sequence > cell.cell.sequence,
            reversed(self.records()),
        )
        return tuple(mine)[::-1]

    def placed(self) -> tuple[int, Sequence[Record]]:
        """The place of the oldest record held, and all of them; places count on, also after `clear`."""
        with self._lock:
            held = PackedRecords(tuple(self._entries.values()), self._packer)
            return self._next - len(held), held

    def place(self, key: _Key) -> int | None:
        """The place of a record, which it keeps when it is replaced; None where it is not held (any more)."""
        with self._lock:
            if key not in self._entries:
                return None
            newer = takewhile(lambda other: other != key, reversed(self._entries))
            return self._next - 1 - sum(1 for _ in newer)

    def get(self, key: _Key) -> Record | None:
        """The record with this run id and sequence, None where it is not held (any more)."""
        with self._lock:
            entry = self._entries.get(key)
            return self._packer.unpack(entry) if isinstance(entry, bytes) else entry

    def clear(self) -> None:
        """Forget all records."""
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
        """Stop calling `subscriber`; one that is not subscribed is ignored."""
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
