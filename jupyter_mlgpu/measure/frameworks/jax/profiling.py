"""JAX's profiler as it is seen from outside (`profiler_watch.FrameworkProfiler`).

`jax.profiler.start_trace` makes a session through the native module in `jax._src.profiler` (read in 0.11).
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.user_profiler import FirstStep, Replaced


def is_on() -> bool:
    """Return whether a trace of the user's runs now."""
    place = module("jax._src.profiler")
    return place is not None and place._profile_state.profile_session is not None


def before(tell: Callable[[], None]) -> Callable[[], None]:
    """Have `tell` called before one begins; what is returned ends that."""
    place = module("jax._src.profiler")
    replaced = Replaced(place)
    replaced.replace("_profiler", FirstStep(place._profiler, tell))
    return replaced.put_back
