"""JAX's profiler for one cell.

The session is JAX's own, made as `jax.profiler.start_trace` makes it (private; seen on 0.10.2), but not
noted in that module, so that a cell that begins one of its own gets it. Unlike `start_trace` it neither
starts JAX's clients nor writes files. A GPU's plug-in brings the part that sees the GPU when its client
starts; so where there is a plug-in and no client yet, no profile is taken.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from jupyter_mlgpu.backends.profiling.aside import GAVE_WAY, FirstStep, Replaced
from jupyter_mlgpu.ops import read_jax, xspace
from jupyter_mlgpu.ops.events import Profile
from jupyter_mlgpu.ops.profiler import Refused, Session

_RUNNING = Refused(
    "A profiler of JAX is on already: ours stepped aside, so there are no times per operation.",
    running=True,
)
_NOT_STARTED = Refused(
    "JAX has not used its GPU yet, and its profiler sees a GPU only after that: run the cell once more."
)


class JaxProfiler:
    """See `jupyter_mlgpu.ops.profiler.Profiler`."""

    framework = "jax"

    def start(self) -> Session | Refused:
        """See `jupyter_mlgpu.ops.profiler.Profiler`."""
        from jax._src import profiler, xla_bridge

        if profiler._profile_state.profile_session is not None:
            return _RUNNING
        if not xla_bridge.backends_are_initialized() and _plug_ins(xla_bridge):
            return _NOT_STARTED
        options = sys.modules["jax"].profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        return JaxSession(profiler._profiler.ProfilerSession(options), profiler)


class JaxSession:
    """See `jupyter_mlgpu.ops.profiler.Session`."""

    def __init__(self, native: Any, module: Any) -> None:
        self._native = native
        self._begun_ns = time.time_ns()
        self._ended_ns: int | None = None
        self._found: bytes | Exception = b""
        self._gave_way = False
        self._replaced = Replaced(module)
        self._replaced.replace("_profiler", FirstStep(module._profiler, self._step_aside))

    def stop(self) -> Profile:
        """See `jupyter_mlgpu.ops.profiler.Session`."""
        self._end()
        if isinstance(self._found, Exception):
            raise self._found
        data, left_out = xspace.cut(self._found)
        assert self._ended_ns is not None
        return read_jax.read(
            sys.modules["jax"].profiler.ProfileData.from_serialized_xspace(data),
            profiler="JAX's profiler",
            window_ns=(self._begun_ns, self._ended_ns),
            left_out=left_out,
            problems=(GAVE_WAY,) if self._gave_way else (),
            whole=not self._gave_way,
        )

    def abandon(self) -> None:
        """See `jupyter_mlgpu.ops.profiler.Session`."""
        self._end()

    def _step_aside(self) -> None:
        self._gave_way = True
        self._end()

    def _end(self) -> None:
        if self._ended_ns is not None:
            return
        self._ended_ns = time.time_ns()
        self._replaced.put_back()
        try:
            self._found = bytes(self._native.stop())
        except Exception as error:  # JAX tells only now that another session was on, begun from outside
            self._found = error
        finally:
            self._native = None


def _plug_ins(xla_bridge: Any) -> bool:
    return bool({"cuda", "rocm", "METAL"} & set(getattr(xla_bridge, "_backend_factories", {})))
