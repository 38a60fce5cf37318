"""JAX's profiler for one cell.

The session is JAX's own, made as `jax.profiler.start_trace` makes it (private; seen on 0.10.2), but not
noted in that module, so that a cell that begins one of its own gets it. Unlike `start_trace` it neither
starts JAX's clients nor writes files. A GPU's plug-in brings the part that sees the GPU when its client
starts; so where there is a plug-in and no client yet, no profile is taken.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

from jupyter_mlgpu.clock import real_time
from jupyter_mlgpu.frameworks.jax import profile_reader
from jupyter_mlgpu.frameworks.modules import imported
from jupyter_mlgpu.frameworks.user_profiler import GAVE_WAY, FirstStep, Replaced
from jupyter_mlgpu.ops import xspace
from jupyter_mlgpu.ops.events import Profile
from jupyter_mlgpu.ops.profiler import Refused, Session

_RUNNING = Refused(
    "A profiler of JAX is on already: ours stepped aside, so there are no times per operation.",
    running=True,
)
# Seen on an H200 with PyTorch 2.11.0 and JAX 0.11.2: CUPTI then refuses JAX, which prints that and goes on.
_ONE_OF_BOTH = (
    "If PyTorch's profiler was on in this process before, JAX's sees nothing of an NVIDIA GPU, for CUPTI "
    "serves one of them alone: restart the kernel, and profile JAX first."
)
_NO_SHAPES = "JAX's profiler tells neither input shapes nor FLOP."
_NOT_STARTED = Refused(
    "JAX has not used its GPU yet, and its profiler sees a GPU only after that: run the cell once more."
)


class JaxProfiler:
    """See `jupyter_mlgpu.ops.profiler.Profiler`."""

    framework = "jax"

    def start(self, shapes: bool = False) -> Session | Refused:
        """See `jupyter_mlgpu.ops.profiler.Profiler`."""
        from jax._src import profiler

        if profiler._profile_state.profile_session is not None:
            return _RUNNING
        if not _xla_bridge().backends_are_initialized() and _plug_ins():
            return _NOT_STARTED
        options = sys.modules["jax"].profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        native = profiler._profiler.ProfilerSession(options)
        return JaxSession(native, profiler, (_NO_SHAPES,) if shapes else ())


class JaxSession:
    """See `jupyter_mlgpu.ops.profiler.Session`."""

    def __init__(self, native: Any, module: Any, problems: tuple[str, ...] = ()) -> None:
        self._native = native
        self._problems = problems
        self._begun_ns = real_time.time_ns()
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
        profile = profile_reader.read(
            sys.modules["jax"].profiler.ProfileData.from_serialized_xspace(data),
            profiler="JAX's profiler",
            window_ns=(self._begun_ns, self._ended_ns),
            left_out=left_out,
            problems=(*self._problems, GAVE_WAY) if self._gave_way else self._problems,
            whole=not self._gave_way,
        )
        on_devices = any(one.plane == "device" for one in profile.events)
        if imported("torch") and _plug_ins() and not on_devices:
            profile = dataclasses.replace(profile, problems=(*profile.problems, _ONE_OF_BOTH))
        return dataclasses.replace(profile, xspace=data)

    def abandon(self) -> None:
        """See `jupyter_mlgpu.ops.profiler.Session`."""
        self._end()

    def _step_aside(self) -> None:
        self._gave_way = True
        self._end()

    def _end(self) -> None:
        if self._ended_ns is not None:
            return
        self._ended_ns = real_time.time_ns()
        self._replaced.put_back()
        try:
            self._found = bytes(self._native.stop())
        except Exception as error:  # JAX tells only now that another session was on, begun from outside
            self._found = error
        finally:
            self._native = None


def _xla_bridge() -> Any:
    from jax._src import xla_bridge

    return xla_bridge


def _plug_ins() -> bool:
    return bool({"cuda", "rocm", "METAL"} & set(getattr(_xla_bridge(), "_backend_factories", {})))
