"""The profiles of the newest profiled cells, event by event, so that they can be exported.

A record holds a profile's table. The events behind it are kept beside the records, in the kernel's memory
alone, and bounded: an event takes about 250 bytes, so `LIMIT` of them take 100 MB. Where that is not enough,
the oldest cells' events are let go; of a cell that is too large by itself, the first events by time stay.
"""

from __future__ import annotations

import dataclasses
import threading
from operator import attrgetter

from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.record.sentence import say

Key = tuple[str, int]

#: Events of all cells together.
LIMIT = 400_000

#: Bytes of all cells' serialised XSpaces together.
XSPACE_LIMIT = 64 * 1024**2


class ProfileStore:
    """Profiles by the key of their record, the newest ones. Safe to call from several threads."""

    def __init__(self, limit: int = LIMIT, xspace_limit: int = XSPACE_LIMIT) -> None:
        self._limit = limit
        self._xspace_limit = xspace_limit
        self._profiles: dict[Key, tuple[Profile, ...]] = {}
        self._lock = threading.Lock()

    def add(self, key: Key, profiles: tuple[Profile, ...]) -> None:
        """Keep a cell's profiles, and let go of what is too much then."""
        if not profiles:
            return
        profiles = tuple(_cut(one, self._limit // len(profiles)) for one in profiles)
        with self._lock:
            self._profiles[key] = profiles
            while sum(len(one.events) for all_of in self._profiles.values() for one in all_of) > self._limit:
                del self._profiles[next(iter(self._profiles))]
            for older in list(self._profiles):
                if sum(_bytes(one) for one in self._profiles.values()) <= self._xspace_limit:
                    break
                without = tuple(dataclasses.replace(one, xspace=None) for one in self._profiles[older])
                self._profiles[older] = without

    def get(self, key: Key) -> tuple[Profile, ...]:
        """The profiles of a cell; none where it was not profiled, or where they were let go."""
        with self._lock:
            return self._profiles.get(key, ())

    def clear(self) -> None:
        """Let all of them go."""
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


def _bytes(profiles: tuple[Profile, ...]) -> int:
    return sum(len(one.xspace or b"") for one in profiles)
