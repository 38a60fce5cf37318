"""JAX's profiler for one cell.

The session is JAX's own, created as `jax.profiler.start_trace` does (private; verified on 0.10.2). It is not
registered in that module, so a cell can start its own. Unlike `start_trace`, it neither starts JAX's clients
nor writes files. The part that profiles a GPU is loaded when the client of the GPU's plug-in starts. So if
there is a plug-in and no client yet, no profile is taken.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.jax import platforms, profile_reader, profiling, programs
from jupyter_mlgpu.measure.frameworks.user_profiler import CellSession, ProfilerModuleProxy
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.ops import xspace
from jupyter_mlgpu.measure.ops.events import Profile, ProgramCost
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.record.sentence import Sentence, say

_RUNNING = Refused(
    say("A JAX profiler is already running: ours was not started, so there are no times per operation."),
    running=True,
)
# Seen on an H200 with PyTorch 2.11.0 and JAX 0.11.2: CUPTI then refuses JAX, which prints that and continues.
_ONE_OF_BOTH = say(
    "If PyTorch's profiler has already run in this process, JAX's profiler sees nothing of "
    "an NVIDIA GPU, because CUPTI serves only one of them: restart the kernel and profile "
    "JAX first."
)
# jax-mps 0.11.1 refuses each call of its profiler; jax-metal 0.1.1 and metaljax 0.11.9 have none (read).
_METAL = say(
    "JAX's profiler does not see a Mac's GPU, because its plug-ins do not support profiling: the operations "
    "below are from the host only and have no shares of the total."
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
    """JAX's profiler, before it starts."""

    framework = "jax"

    def start(self, shapes: bool = False) -> Session | Refused:
        from jax._src import profiler

        if profiling.is_on():
            return _RUNNING
        if not _xla_bridge().backends_are_initialized() and _plug_ins():
            return _NOT_STARTED
        options = module("jax").profiler.ProfileOptions()
        options.python_tracer_level = 0
        options.host_tracer_level = 2
        native = profiler._profiler.ProfilerSession(options)
        return JaxSession(native, profiler, shapes)


class JaxSession(CellSession):
    """JAX's profiler while it is on."""

    def __init__(self, native: Any, module: Any, shapes: bool = False) -> None:
        super().__init__(module, (_NO_SHAPES,) if shapes else ())
        self._native = native
        self._shapes = shapes
        self._xspace = b""
        self._replaced.replace("_profiler", ProfilerModuleProxy(module._profiler, self._stop_for_user))

    def _turn_off(self) -> None:
        native, self._native = self._native, None
        # If another session was started from outside, JAX reports it only now.
        self._xspace = bytes(native.stop())

    def _read(self) -> Profile:
        data, left_out = xspace.cut(self._xspace)
        parsed = module("jax").profiler.ProfileData.from_serialized_xspace(data)
        events = profile_reader.read(parsed)
        on_gpu = any(one.plane == "device" for one in events.events)
        if imported("torch") and "cuda" in _plug_ins() and not on_gpu:
            events = events._replace(problems=(*events.problems, _ONE_OF_BOTH))
        costs, problem = _costs(data, parsed, on_gpu) if self._shapes and not left_out else ((), ())
        on_mac = any(name in platforms.METAL for name in _xla_bridge().backends())
        profile = self._profile(
            "jax",
            events,
            *problem,
            *([_METAL] if on_mac else []),
            left_out=left_out,
            xspace=data,
            devices_unseen=on_mac,
        )
        return replace(profile, compiled=True, programs=costs)


def _costs(data: bytes, parsed: Any, on_gpu: bool) -> tuple[tuple[ProgramCost, ...], tuple[Sentence, ...]]:
    """Return the costs of the programs, or why they are not known: the analysis is private in JAX.

    `on_gpu`: the profile has kernels of a GPU. Only these use tf32; programs on the CPU compute in float32.
    """
    try:
        from jax._src import lib

        hlo = getattr(lib, "hlo", lib._jax)  # JAX 0.8 has its functions in the other module
        client = _xla_bridge().get_backend()
        tf32 = on_gpu and client.platform == "gpu" and _has_tf32(client)
        # A GPU plug-in's client has no such analysis (JAX 0.11); the CPU's client analyses any program.
        host = _xla_bridge().get_backend("cpu")
        runs = programs.run_counts(parsed)
        known = {name: count for name, count in runs.items() if count is not None}
        found = programs.costs(
            data,
            known,
            lambda module: lib._jax.hlo_module_cost_analysis(host, module),
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
    problems = [_LOOPS] if len(found) < len(known) else []
    return found, (*problems, _RUNS) if len(known) < len(runs) else tuple(problems)


def _has_tf32(client: Any) -> bool:
    capability = str(getattr(client.devices()[0], "compute_capability", ""))
    return bool(re.fullmatch(r"\d+\.\d+", capability)) and float(capability) >= 8.0


def _xla_bridge() -> Any:
    from jax._src import xla_bridge

    return xla_bridge


def _plug_ins() -> list[str]:
    return platforms.gpus_among(getattr(_xla_bridge(), "_backend_factories", {}))
