"""PyTorch's profiler for one cell.

A second profiler of PyTorch silently replaces the first, and the first then has no events (seen on 2.13.0).
So the two functions that start a profiler are wrapped while ours is on, and ours ends before another starts.
Kineto writes lines to standard error when a profiler starts and stops. These come from our profiler and not
from the cell, so KINETO_LOG_LEVEL suppresses them, unless the user has set it. Metal (MPS) is not covered:
what PyTorch itself prints of it is read in explain/logs/mps_profile.py.
"""

from __future__ import annotations

import os
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.precision import emulated_by_gpu
from jupyter_mlgpu.measure.frameworks.torch import profile_reader
from jupyter_mlgpu.measure.frameworks.torch.profiling import START_FUNCTIONS, calling_first, kineto_silent
from jupyter_mlgpu.measure.frameworks.user_profiler import CellSession
from jupyter_mlgpu.measure.ops.events import Profile
from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused, Session
from jupyter_mlgpu.record.sentence import Sentence, say

_RUNNING = Refused(
    say("A PyTorch profiler is already running: ours was not started, so there are no times per operation."),
    running=True,
)
_MPS = say("PyTorch's profiler does not see a Mac's GPU (MPS), so its operations are from the host only")
_MPS_LOG = "PYTORCH_MPS_LOG_PROFILE_INFO"
# Measured on 2.13.0: training steps took 2.0 times as long as with the plain profiler until the cell
# returned, and small operations 2.6 times. Most of it is spent when the profiler stops (adr/0012).
_NOT_RECORDED = say(
    "PyTorch's input shapes and FLOP are not reported: recording them makes its profiler "
    "take twice as long. `%%mlc_trace --ops --shapes` records them."
)


class TorchProfiler(Profiler):
    """PyTorch's profiler, before it starts."""

    framework = "torch"

    def start(self, shapes: bool = False) -> Session | Refused:
        from torch import autograd, profiler

        if autograd._profiler_enabled():
            return _RUNNING
        wanted = [profiler.ProfilerActivity.CPU]
        possible = profiler.supported_activities()
        if profiler.ProfilerActivity.CUDA in possible and module("torch").cuda.is_available():
            wanted.append(profiler.ProfilerActivity.CUDA)
        ours = profiler.profile(activities=wanted, record_shapes=shapes, with_flops=shapes)
        with kineto_silent():
            ours.start()
        return TorchSession(ours, module("torch.autograd.profiler"), shapes)


class TorchSession(CellSession):
    """PyTorch's profiler while it is on."""

    def __init__(self, ours: Any, module: Any, shapes: bool) -> None:
        super().__init__(module)
        self._ours = ours
        self._shapes = shapes
        for name in START_FUNCTIONS:
            self._replaced.replace(name, calling_first(self._stop_for_user, getattr(module, name)))

    def abandon(self) -> None:
        """Turn the profiler off and drop its events."""
        super().abandon()
        self._ours = None

    def _read(self) -> Profile:
        has_mps = module("torch").backends.mps.is_available()
        more = [*([_on_mps()] if has_mps else []), *([] if self._shapes else [_NOT_RECORDED])]
        ours, self._ours = self._ours, None
        kineto = getattr(ours.profiler, "kineto_results", None)
        # The private results are twenty times as fast to read.
        found = (
            profile_reader.from_kineto(kineto.events(), tf32=_in_tf32())
            if kineto
            else profile_reader.from_public(ours.events())
        )
        return self._profile("torch", profile_reader.read(found), *more, devices_unseen=has_mps)

    def _turn_off(self) -> None:
        if not module("torch").cuda.is_initialized():
            # Otherwise stopping waits for the GPU, and creates a context for that if the cell used none.
            self._ours.profiler.use_device = None
        try:
            self._ours.stop()
        finally:
            autograd = module("torch").autograd
            if autograd._profiler_enabled():  # an interrupt came before it was off
                autograd._disable_profiler()


def _in_tf32() -> frozenset[str]:
    """Return `products` and `convolutions` if PyTorch's settings compute them in tf32 on this GPU."""
    torch = module("torch")
    if not torch.cuda.is_initialized() or torch.version.hip:
        return frozenset()
    if emulated_by_gpu("tf32", torch.cuda.get_device_capability()):
        return frozenset()
    allowed = {
        "products": torch.get_float32_matmul_precision() != "highest",
        "convolutions": torch.backends.cudnn.allow_tf32,
    }
    return frozenset(name for name, one in allowed.items() if one)


def _on_mps() -> Sentence:
    if os.environ.get(_MPS_LOG):
        return say(
            "{seen}; {variable} is set, so PyTorch's own GPU log is shown beside them.",
            seen=_MPS,
            variable=_MPS_LOG,
        )
    return say(
        "{seen}: to see PyTorch's own GPU log as well, set {variable}=391 before the kernel starts.",
        seen=_MPS,
        variable=_MPS_LOG,
    )
