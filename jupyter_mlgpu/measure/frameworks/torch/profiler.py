"""PyTorch's profiler for one cell.

A second profiler of PyTorch takes the place of the first in silence, and the first then has no events (seen
on 2.13.0). So the two functions that begin one are watched while ours is on, and ours ends before another
begins. Kineto writes lines of its own to standard error when a profiler starts and stops; they are ours, not
the cell's, and KINETO_LOG_LEVEL keeps them away where the user has not set it. Metal (MPS) is not seen:
what PyTorch itself prints of it is read in explain/logs/mps_profile.py.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.precision import emulated_by_gpu
from jupyter_mlgpu.measure.frameworks.torch import profile_reader
from jupyter_mlgpu.measure.frameworks.torch.profiling import BEGINNINGS, kineto_silent
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
# Seen on 2.13.0: training steps took 2.0 times as long as with the plain profiler until the cell returned,
# small operations 2.6 times; most of it when the profiler stops (adr/0012).
_NOT_RECORDED = say(
    "PyTorch's input shapes and FLOP are not reported: recording them makes its profiler "
    "take twice as long. `%%mlc_trace --ops --shapes` records them."
)


class TorchProfiler(Profiler):
    """PyTorch's profiler, off."""

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
    """PyTorch's profiler, on."""

    def __init__(self, ours: Any, module: Any, shapes: bool) -> None:
        super().__init__(module)
        self._ours = ours
        self._shapes = shapes
        for name in BEGINNINGS:
            self._replaced.replace(name, self._after_us(getattr(module, name)))

    def abandon(self) -> None:
        """As any other, and lets go of its events."""
        super().abandon()
        self._ours = None

    def _read(self) -> Profile:
        unseen = module("torch").backends.mps.is_available()
        more = [*([_on_mps()] if unseen else []), *([] if self._shapes else [_NOT_RECORDED])]
        ours, self._ours = self._ours, None
        kineto = getattr(ours.profiler, "kineto_results", None)
        # The first is private, and twenty times as fast.
        found = (
            profile_reader.of_kineto(kineto.events(), tf32=_in_tf32())
            if kineto
            else profile_reader.of_public(ours.events())
        )
        return self._profile("torch", profile_reader.read(found), *more, devices_unseen=unseen)

    def _after_us(self, begin: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(begin)
        def begin_after_us(*arguments: Any, **named: Any) -> Any:
            self._step_aside()
            return begin(*arguments, **named)

        return begin_after_us

    def _turn_off(self) -> None:
        if not module("torch").cuda.is_initialized():
            # Else stopping waits for the GPU, and makes a context for that where the cell used none.
            self._ours.profiler.use_device = None
        try:
            self._ours.stop()
        finally:
            autograd = module("torch").autograd
            if autograd._profiler_enabled():  # an interrupt has come before it was off
                autograd._disable_profiler()


def _in_tf32() -> frozenset[str]:
    """What of float32 is worked out in tf32: settings of PyTorch's, on a GPU that has it."""
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
