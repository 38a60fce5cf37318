"""Tell whether a framework's profiler is on, and call a function before one begins."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.imports import imported


class FrameworkProfiler(Protocol):
    """One framework's profiler, of which the framework is imported."""

    def is_on(self) -> bool:
        """Return whether it is on now."""
        ...

    def before(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Have `tell` called before it begins; what is returned ends that."""
        ...


class ProfilerWatch:
    """The profilers of all frameworks that the user's program has imported."""

    def __init__(self) -> None:
        self._watched: dict[str, Callable[[], None]] = {}

    def is_on(self) -> bool:
        """Return whether any of them is on."""
        return any(profiler.is_on() for _, profiler in self._profilers())

    def before(self, tell: Callable[[], None]) -> None:
        """Have `tell` called before any of them begins, from now on; twice does no harm."""
        for name, profiler in self._profilers():
            if name not in self._watched:
                self._watched[name] = profiler.before(tell)

    def leave(self) -> None:
        """Put back what was there."""
        while self._watched:
            self._watched.popitem()[1]()

    def _profilers(self) -> list[tuple[str, FrameworkProfiler]]:
        return [
            (name, importlib.import_module(where))
            for name in registry.begun()
            if (where := registry.framework(name).profiling) is not None and imported(name)
        ]
