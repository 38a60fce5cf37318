"""A limit on the size of files (RLIMIT_FSIZE) holds for the file that native lines go to, too.

Whoever writes beyond it gets an error, and a child process dies of SIGXFSZ, where a pipe or a terminal would
have taken the line. So the file is left as soon as such a limit comes near: setting one is noticed at once,
by covering the two functions that do so, and a limit set otherwise at the next look.
"""

from __future__ import annotations

import contextlib
import functools
import resource
from collections.abc import Callable
from typing import Any

#: So much must be left to write.
ROOM = 64 * 1024**2


def leaves_room(size: int) -> bool:
    """Whether this process may write on in a file of `size` bytes."""
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    return limit == resource.RLIM_INFINITY or limit - size >= ROOM


class LimitWatch:
    """Calls `on_change()` after each limit that this process sets for itself, from `start` to `stop`."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self._covered: dict[str, tuple[Any, Any]] = {}

    def start(self) -> None:
        """Begin to listen."""
        for name in ("setrlimit", "prlimit"):  # the second one is Linux's
            original = getattr(resource, name, None)
            if original is not None:
                ours = self._covering(original)
                self._covered[name] = (original, ours)
                setattr(resource, name, ours)

    def stop(self) -> None:
        """Put back what was there; what somebody else has put there since stays."""
        for name, (original, ours) in self._covered.items():
            if getattr(resource, name) is ours:
                setattr(resource, name, original)
        self._covered.clear()

    def _covering(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def set_limit(*arguments: Any) -> Any:
            done = original(*arguments)
            if self._covered:
                with contextlib.suppress(Exception):
                    self._on_change()
            return done

        return set_limit
