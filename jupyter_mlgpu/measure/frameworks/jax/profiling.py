"""JAX's `profiler_hooks.FrameworkProfiler`.

`jax.profiler.start_trace` creates a session through the native module in `jax._src.profiler` (read in 0.11).
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.user_profiler import ProfilerModuleProxy, ReplacedNames


def is_on() -> bool:
    """Return True if a trace of the user is running."""
    state = getattr(module("jax._src.profiler"), "_profile_state", None)
    # The second name is that of JAX before 0.12.
    return any(getattr(state, name, None) is not None for name in ("session", "profile_session"))


def before(callback: Callable[[], None]) -> Callable[[], None]:
    """Call `callback` before a session starts; return a function that ends this."""
    place = module("jax._src.profiler")
    replaced = ReplacedNames(place)
    replaced.replace("_profiler", ProfilerModuleProxy(place._profiler, callback))
    return replaced.put_back
