"""JAX's profiler for one cell.

The session is JAX's own, made as `jax.profiler.start_trace` makes it (private; seen on 0.10.2), but not
noted in that module, so that a cell that begins one of its own gets it. Unlike `start_trace` it neither
starts JAX's clients nor writes files. A GPU's plug-in brings the part that sees the GPU when its client
starts; so where there is a plug-in and no client yet, no profile is taken.
"""

from __future__ import annotations

import sys
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import imported
from jupyter_mlgpu.measure.frameworks.jax import profile_reader
from jupyter_mlgpu.measure.frameworks.user_profiler import CellSession, FirstStep
from jupyter_mlgpu.measure.ops import xspace
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.record.sentence import Sentence, say

_RUNNING = Refused(
    say("A profiler of JAX is on already: ours stepped aside, so there are no times per operation."),
    running=True,
)
# Seen on an H200 with PyTorch 2.11.0 and JAX 0.11.2: CUPTI then refuses JAX, which prints that and goes on.
_ONE_OF_BOTH = say(
    "If PyTorch's profiler was on in this process before, JAX's sees nothing of an NVIDIA "
    "GPU, for CUPTI serves one of them alone: restart the kernel, and profile JAX first."
)
_NO_SHAPES = say("JAX's profiler tells neither input shapes nor FLOP.")
_NOT_STARTED = Refused(
    say("JAX has not used its GPU yet, and its profiler sees a GPU only after that: run the cell once more.")
)


class JaxProfiler(Profiler):
    """JAX's profiler, off."""

    framework = "jax"

    def start(self, shapes: bool = False) -> Session | Refused:
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


class JaxSession(CellSession):
    """JAX's profiler, on."""

    def __init__(self, native: Any, module: Any, problems: tuple[Sentence, ...] = ()) -> None:
        super().__init__(module, problems)
        self._native = native
        self._xspace = b""
        self._replaced.replace("_profiler", FirstStep(module._profiler, self._step_aside))

    def _turn_off(self) -> None:
        native, self._native = self._native, None
        # JAX tells only now that another session was on, begun from outside.
        self._xspace = bytes(native.stop())

    def _read(self) -> Profile:
        data, left_out = xspace.cut(self._xspace)
        seen = profile_reader.read(sys.modules["jax"].profiler.ProfileData.from_serialized_xspace(data))
        if imported("torch") and _plug_ins() and all(one.plane != "device" for one in seen.events):
            seen = seen._replace(problems=(*seen.problems, _ONE_OF_BOTH))
        return self._profile("jax", seen, left_out=left_out, xspace=data)


def _xla_bridge() -> Any:
    from jax._src import xla_bridge

    return xla_bridge


def _plug_ins() -> bool:
    return bool({"cuda", "rocm", "METAL"} & set(getattr(_xla_bridge(), "_backend_factories", {})))
