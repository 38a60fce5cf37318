"""Learning that the user's code begins a profiler of its own, so that ours can step aside first.

A framework runs one profiler at a time. The names by which its Python code reaches the native one are
replaced while ours is on, and put back with it; whoever calls them in between is the user's code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

GAVE_WAY = (
    "This cell began a profiler of its own, so ours stopped there: times per operation end at that point."
)


class Replaced:
    """Names of a module replaced until `put_back`."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._before: dict[str, tuple[Any, Any]] = {}

    def replace(self, name: str, value: Any) -> None:
        """Put `value` in the place of the module's `name`."""
        self._before[name] = (getattr(self._module, name), value)
        setattr(self._module, name, value)

    def put_back(self) -> None:
        """What was there before; a name that somebody else has replaced since stays theirs."""
        for name, (before, ours) in self._before.items():
            if getattr(self._module, name) is ours:
                setattr(self._module, name, before)
        self._before.clear()


class FirstStep:
    """Stands for a module: its `ProfilerSession` calls `first` and makes a session then."""

    def __init__(self, module: Any, first: Callable[[], None]) -> None:
        self._module = module
        self._first = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)

    def ProfilerSession(self, *arguments: Any, **named: Any) -> Any:  # noqa: N802 - the module's own name
        """The module's own session, begun after ours has ended."""
        self._first()
        return self._module.ProfilerSession(*arguments, **named)
