"""PyTorch's default device, set during the cells of one thread and then restored.

Keras on PyTorch has its own default device, which is set too. For a GPU, only Keras's is set: `fit` shuffles
with PyTorch's DataLoader, which fails if a GPU is the default device (seen on an H200, PyTorch 2.11, Keras
3.15: "Expected a 'cuda' device type for generator but found 'cpu'").
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device, Scope
from jupyter_mlgpu.measure.frameworks.imports import imported, module
from jupyter_mlgpu.measure.frameworks.torch import default_device
from jupyter_mlgpu.measure.frameworks.torch.tensors import short
from jupyter_mlgpu.record.sentence import Sentence, say


class TorchScope(Scope):
    """PyTorch's default device in one cell."""

    def __init__(self, device: Device) -> None:
        torch = _torch()
        self._before = _default_device()
        self._keras = _keras_scope(device)
        if device.kind != "cpu" and self._keras is None:
            default_device.select(device.native_name)
        elif self._before is not None:
            torch.set_default_device("cpu")
        self._selected = _default_device()

    def holds(self) -> bool:
        """Return False inside a `torch.device(...)` of the user."""
        return bool(_active_device() == self._selected)

    def leave(self) -> Sentence | None:
        """Restore the default device found on entry; return a note if the user's code had set another."""
        changed = not self.holds()
        if self._keras is not None:
            self._keras.__exit__(None, None, None)
        if changed or self._selected != self._before:
            _torch().set_default_device(self._before)
        if not changed:
            return None
        return say("This cell set PyTorch's default device itself; `%mlc_device` restored the previous one.")


def device_of_new_tensors() -> str | None:
    """Return the short name of the device on which this thread makes new tensors; None if unknown."""
    if module("torch.overrides") is None or module("torch.utils._device") is None:
        return None
    device = _active_device()
    return "cpu:0" if device is None else short(device)


def _torch() -> Any:
    return module("torch")


def _default_device() -> Any:
    """Return the default device that this thread has set (private; verified on 2.13.0); None if none."""
    context = getattr(_torch()._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    return None if context is None else context.device


def _active_device() -> Any:
    """Return the device of this thread's new tensors, set as the default or by a with statement."""
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._device import DeviceContext

    modes = reversed(_get_current_function_mode_stack())  # the innermost first
    return next((mode.device for mode in modes if isinstance(mode, DeviceContext)), None)


def _keras_scope(device: Device) -> Any:
    keras = module("keras")
    if keras is None or not imported("keras") or keras.backend.backend() != "torch":
        return None
    scope = keras.device(device.native_name)
    scope.__enter__()
    return scope
