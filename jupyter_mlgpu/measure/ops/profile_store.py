"""The profiles of the newest profiled cells, event by event, for export.

A record holds a profile's table. The events are kept apart from the records, only in the kernel's memory, and
their number is limited: an event takes about 250 bytes, so `LIMIT` of them take 100 MB. Beyond that, the
events of the oldest cells are dropped. If one cell alone is too large, its first events by time are kept.
"""

from __future__ import annotations

import dataclasses
import threading
from operator import attrgetter

from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.record.sentence import say

Key = tuple[str, int]

#: Most events of all cells together.
LIMIT = 400_000

#: Most bytes of all cells' serialised XSpaces together.
XSPACE_LIMIT = 64 * 1024**2


class ProfileStore:
    """The newest profiles by the key of their record. Safe to call from several threads."""

    def __init__(self, limit: int = LIMIT, xspace_limit: int = XSPACE_LIMIT) -> None:
        self._limit = limit
        self._xspace_limit = xspace_limit
        self._profiles: dict[Key, tuple[Profile, ...]] = {}
        self._lock = threading.Lock()

    def add(self, key: Key, profiles: tuple[Profile, ...]) -> None:
        """Keep a cell's profiles, and drop the oldest ones beyond the limits."""
        if not profiles:
            return
        profiles = tuple(_cut(profile, self._limit // len(profiles)) for profile in profiles)
        with self._lock:
            self._profiles[key] = profiles
            while sum(map(_events, self._profiles.values())) > self._limit:
                del self._profiles[next(iter(self._profiles))]
            for older in list(self._profiles):
                if sum(map(_bytes, self._profiles.values())) <= self._xspace_limit:
                    break
                self._profiles[older] = tuple(
                    dataclasses.replace(profile, xspace=None) for profile in self._profiles[older]
                )

    def get(self, key: Key) -> tuple[Profile, ...]:
        """Return the profiles of a cell, none if it was not profiled or if they were dropped."""
        with self._lock:
            return self._profiles.get(key, ())

    def clear(self) -> None:
        """Drop all profiles."""
        with self._lock:
            self._profiles.clear()


def _cut(profile: Profile, limit: int) -> Profile:
    more = len(profile.events) - limit
    if more <= 0:
        return profile
    first = sorted(profile.events, key=attrgetter("start_ns"))[:limit]
    why = say("only the first {limit} events of a cell are kept for export, to limit memory use", limit=limit)
    before = profile.why_left_out
    return dataclasses.replace(
        profile,
        events=tuple(first),
        left_out=profile.left_out + more,
        why_left_out=why if before is None else say("{one}; {other}", one=before, other=why),
    )


def _events(profiles: tuple[Profile, ...]) -> int:
    return sum(len(profile.events) for profile in profiles)


def _bytes(profiles: tuple[Profile, ...]) -> int:
    return sum(len(profile.xspace or b"") for profile in profiles)
