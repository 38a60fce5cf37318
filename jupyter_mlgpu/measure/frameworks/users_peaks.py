"""A framework's counter of peak memory, reset for each cell without changing what the user reads.

A cell's own peak can be read only if the counter begins with the cell. The user may read the same counter and
expects the peak since their own last reset. So the framework's functions for reading and resetting are
wrapped where the framework calls them. The peak before each of our resets is kept, and joined to what the
user reads. The wrappers stay until the process ends, because the user may read the counter after `%mlc_trace
off`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

#: Returns the allocator that a call is about, from its arguments; a constant if there is one allocator.
Key = Callable[[tuple[Any, ...]], object]

_wrapped: dict[tuple[int, str], UsersPeaks] = {}


class UsersPeaks:
    """The counters of one framework. `join` returns the greater of two results of the reading function."""

    def __init__(self, owner: Any, read: str, reset: str, join: Callable[[Any, Any], Any], key: Key) -> None:
        """Wrap the functions `read` and `reset` of `owner`."""
        self._join = join
        self._key = key
        self._reached: dict[object, Any] = {}
        self._owner = owner  # kept alive, so that its id is not used again
        self._read: Callable[..., Any] = getattr(owner, read)
        self._reset: Callable[..., Any] = getattr(owner, reset)
        setattr(owner, read, self._users_read(self._read))
        setattr(owner, reset, self._users_reset(self._reset))
        #: Callbacks by allocator, called before the user resets a counter: they note the peak of open cells.
        self.before_reset: dict[object, Callable[[], None]] = {}

    def read(self, *arguments: Any) -> Any:
        """Return the framework's own result: the peak since the last reset, ours or the user's."""
        return self._read(*arguments)

    def reset(self, *arguments: Any) -> None:
        """Reset the counter; the user still reads the peak before it."""
        key, found = self._key(arguments), self._read(*arguments)
        self._reached[key] = self._join(self._reached[key], found) if key in self._reached else found
        self._reset(*arguments)

    def _users_read(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def read(*arguments: Any, **named: Any) -> Any:
            found = original(*arguments, **named)
            kept = self._reached.get(self._key((*arguments, *named.values()))) if self._reached else None
            return found if kept is None else self._join(kept, found)

        return read

    def _users_reset(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def reset(*arguments: Any, **named: Any) -> Any:
            for note in self.before_reset.values():
                note()
            self._reached.pop(self._key((*arguments, *named.values())), None)
            return original(*arguments, **named)

        return reset


def users_peaks(
    owner: Any,
    read: str,
    reset: str,
    join: Callable[[Any, Any], Any] = max,
    key: Key = lambda arguments: arguments,
) -> UsersPeaks:
    """Return the wrapper of these functions, of which there is one in this process."""
    known = _wrapped.get((id(owner), read))
    if known is None:
        known = _wrapped[id(owner), read] = UsersPeaks(owner, read, reset, join, key)
    return known


def join_peaks(kept: Any, found: Any) -> Any:
    """Join nested dictionaries: the greater value for keys called `peak`, else the value of `found`."""
    if not (type(kept) is type(found) is dict):
        return found
    return {
        name: max(kept.get(name, value), value) if name == "peak" else join_peaks(kept.get(name), value)
        for name, value in found.items()
    }
