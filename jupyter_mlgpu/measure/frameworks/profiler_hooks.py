"""The state of the frameworks' profilers, and a callback before one begins."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Protocol

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.imports import imported


class FrameworkProfiler(Protocol):
    """The profiler of one imported framework."""

    def is_on(self) -> bool:
        """Return True if it is on now."""
        ...

    def before(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Call `callback` before the profiler begins; return a function that ends this."""
        ...


class ProfilerHooks:
    """The profilers of all frameworks that the user's program has imported."""

    def __init__(self) -> None:
        self._hooked: dict[str, Callable[[], None]] = {}

    def is_on(self) -> bool:
        """Return True if any of them is on."""
        return any(profiler.is_on() for _, profiler in self._profilers())

    def before(self, callback: Callable[[], None]) -> None:
        """Call `callback` before any of them begins, from now on; a second call has no effect."""
        for name, profiler in self._profilers():
            if name not in self._hooked:
                self._hooked[name] = profiler.before(callback)

    def leave(self) -> None:
        """Restore the original functions."""
        while self._hooked:
            self._hooked.popitem()[1]()

    def _profilers(self) -> list[tuple[str, FrameworkProfiler]]:
        return [
            (name, importlib.import_module(where))
            for name in registry.imported_or_importing()
            if (where := registry.framework(name).profiling) is not None and imported(name)
        ]
