"""JAX's profiler for one cell.

The session is JAX's own, made as `jax.profiler.start_trace` makes it (private; seen on 0.10.2), but not
noted in that module, so that a cell that begins one of its own gets it. Unlike `start_trace` it neither
starts JAX's clients nor writes files. A GPU's plug-in brings the part that sees the GPU when its client
starts; so where there is a plug-in and no client yet, no profile is taken.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.jax import profile_reader, programs
from jupyter_mlgpu.measure.frameworks.user_profiler import CellSession, FirstStep
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.ops import xspace
from jupyter_mlgpu.measure.ops.events import Profile, ProgramCost
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.record.sentence import Sentence, say

_RUNNING = Refused(
    say("A JAX profiler is already running: ours was not started, so there are no times per operation."),
    running=True,
)
# Seen on an H200 with PyTorch 2.11.0 and JAX 0.11.2: CUPTI then refuses JAX, which prints that and goes on.
_ONE_OF_BOTH = say(
    "If PyTorch's profiler has already run in this process, JAX's profiler sees nothing of "
    "an NVIDIA GPU, because CUPTI serves only one of them: restart the kernel and profile "
    "JAX first."
)
_NO_SHAPES = say("JAX's profiler does not report input shapes; FLOP and bytes are for whole programs.")
_LOOPS = say("JAX's FLOP exclude programs with a loop: XLA counts the loop body only once.")
_RUNS = say(
    "JAX's FLOP exclude programs whose number of runs is not known: the profile does not number them, and "
    "their operations did not run equally often."
)
_NOT_STARTED = Refused(
    say("JAX has not used its GPU yet, and its profiler sees a GPU only after that: run the cell again.")
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
        options = module("jax").profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        native = profiler._profiler.ProfilerSession(options)
        return JaxSession(native, profiler, shapes)


class JaxSession(CellSession):
    """JAX's profiler, on."""

    def __init__(self, native: Any, module: Any, shapes: bool = False) -> None:
        super().__init__(module, (_NO_SHAPES,) if shapes else ())
        self._native = native
        self._shapes = shapes
        self._xspace = b""
        self._replaced.replace("_profiler", FirstStep(module._profiler, self._step_aside))

    def _turn_off(self) -> None:
        native, self._native = self._native, None
        # JAX tells only now that another session was on, begun from outside.
        self._xspace = bytes(native.stop())

    def _read(self) -> Profile:
        data, left_out = xspace.cut(self._xspace)
        parsed = module("jax").profiler.ProfileData.from_serialized_xspace(data)
        seen = profile_reader.read(parsed)
        if imported("torch") and _plug_ins() and all(one.plane != "device" for one in seen.events):
            seen = seen._replace(problems=(*seen.problems, _ONE_OF_BOTH))
        costs, problem = _costs(data, parsed) if self._shapes and not left_out else ((), ())
        profile = self._profile("jax", seen, *problem, left_out=left_out, xspace=data)
        return replace(profile, compiled=True, programs=costs)


def _costs(data: bytes, parsed: Any) -> tuple[tuple[ProgramCost, ...], tuple[Sentence, ...]]:
    """What the programs had to do, or why that is not known: the analysis is not part of JAX's public API."""
    try:
        from jax._src.lib import _jax, hlo

        client = _xla_bridge().get_backend()
        tf32 = client.platform == "gpu" and _has_tf32(client)
        # The client of a GPU's plug-in has no such analysis (JAX 0.11); the processor's counts any program.
        host = _xla_bridge().get_backend("cpu")
        ran = programs.runs_of(parsed)
        known = {name: runs for name, runs in ran.items() if runs is not None}
        found = programs.costs(
            data,
            known,
            lambda module: _jax.hlo_module_cost_analysis(host, module),
            hlo.HloModule.from_serialized_hlo_module_proto,
            tf32=tf32,
        )
    except Exception as error:
        return (), (
            say(
                "The work of JAX's programs could not be read from its profile ({error}).",
                error=words(error),
            ),
        )
    said = [_LOOPS] if len(found) < len(known) else []
    return found, (*said, _RUNS) if len(known) < len(ran) else tuple(said)


def _has_tf32(client: Any) -> bool:
    told = str(getattr(client.devices()[0], "compute_capability", ""))
    return bool(re.fullmatch(r"\d+\.\d+", told)) and float(told) >= 8.0


def _xla_bridge() -> Any:
    from jax._src import xla_bridge

    return xla_bridge


def _plug_ins() -> bool:
    return bool({"cuda", "rocm", "METAL"} & set(getattr(_xla_bridge(), "_backend_factories", {})))
