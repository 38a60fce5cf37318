"""Makes code that is written for a GPU run on the CPU's fake tensors, with the operations of a GPU."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from jupyter_mlgpu.graphs.mps import mixed_precision
from jupyter_mlgpu.graphs.mps.operation_recording import OperationRecording
from jupyter_mlgpu.graphs.mps.places import owner_of, sees_mps

#: Functions of `torch.cuda`, `torch.mps` and `torch.accelerator` that wait, free or count on a device.
_DEVICE_CALLS = (
    *("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "seed", "set_device"),
    *("memory_allocated", "max_memory_allocated", "reset_peak_memory_stats", "memory_reserved"),
    *("current_allocated_memory", "driver_allocated_memory", "set_per_process_memory_fraction"),
)


@contextmanager
def like_mps(recording: OperationRecording) -> Iterator[None]:
    """Turn off what only a CPU does, compilation, and calls that would need a GPU, in the block.

    Data loaders, and tensors made from NumPy's arrays, stay on the CPU of a Mac, so they are not recorded.
    """
    import torch
    from torch._subclasses.fake_tensor import FakeTensor
    from torch.nn.attention import SDPBackend, sdpa_kernel

    with ExitStack() as stack:
        # Fused operations of the CPU alone, and one of CUDA and the CPU for whole encoder layers.
        stack.enter_context(torch.backends.mkldnn.flags(enabled=False))
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.callback(torch.backends.mha.set_fastpath_enabled, torch.backends.mha.get_fastpath_enabled())
        torch.backends.mha.set_fastpath_enabled(False)
        stack.enter_context(torch.compiler.set_stance("force_eager"))
        for module in (torch.cuda, torch.mps, torch.accelerator):
            for name in _DEVICE_CALLS:
                if hasattr(module, name):
                    _set(stack, module, name, lambda *given, **named: 0)
        _set(stack, torch.utils.data.DataLoader, "__iter__", _batches(recording))
        _set(stack, torch, "from_numpy", _on_cpu(recording, torch.from_numpy))
        # A file of fake tensors would take the place of a checkpoint.
        _set(stack, torch, "save", lambda *given, **named: None)
        _set(stack, torch.amp.autocast_mode.autocast, "__init__", _mixed_precision(stack))
        for name in ("is_autocast_enabled", "get_autocast_dtype"):
            _set(stack, torch, name, _of_the_cpu(getattr(torch, name)))
        # A scaler leaves the optimizer out if a gradient is infinite, which is a value.
        _set(stack, torch.amp.GradScaler, "_maybe_opt_step", _step)
        _set(stack, torch, "Generator", _generator(torch.Generator))
        _set(stack, FakeTensor, "device", _device(FakeTensor.device))
        _set(stack, torch.nn.Module, "_apply", _apply)
        yield


def _on_cpu(recording: OperationRecording, call: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda array: recording.on_cpu(lambda: call(array))


def _batches(recording: OperationRecording) -> Callable[[Any], Iterator[Any]]:
    """Return a data loader's `__iter__` without worker processes, which could not send fake tensors."""
    from torch.utils.data.dataloader import _SingleProcessDataLoaderIter

    def batches(loader: Any) -> Iterator[Any]:
        alone = copy.copy(loader)
        alone.num_workers = alone.timeout = 0
        items = recording.hidden(lambda: _SingleProcessDataLoaderIter(alone))
        while (batch := recording.hidden(lambda: next(items, None))) is not None:
            yield batch

    return batches


def _apply(module: Any, function: Callable[[Any], Any], recurse: bool = True) -> Any:
    """Do what `Module._apply` does for `to` and the like; PyTorch's own cannot exchange fake tensors."""
    from torch.nn import Parameter

    for one in module.children() if recurse else ():
        one._apply(function)
    for name, weight in module._parameters.items():
        if weight is not None and (made := function(weight)) is not weight:
            module._parameters[name] = Parameter(made.detach(), weight.requires_grad)
    for name, buffer in module._buffers.items():
        if buffer is not None:
            module._buffers[name] = function(buffer)
    return module


def _device(original: Any) -> property:
    """Return a property that tells the user's code, and PyTorch's that chooses by device, of MPS."""
    from torch import device

    mps = device("mps:0")

    def seen(self: Any) -> Any:
        found = original.fget(self)
        if found.type == "cpu" and sees_mps(sys._getframe(1).f_code.co_filename):
            return mps
        return found

    return property(seen)


def _generator(original: Any) -> Any:
    class AnyGenerator(type(original)):  # type: ignore[misc]
        def __instancecheck__(cls, value: Any) -> bool:
            return isinstance(value, original)

    class Generator(original, metaclass=AnyGenerator):  # type: ignore[misc]
        """A generator of random numbers on the CPU, whatever device it is asked for."""

        def __new__(cls, device: Any = None) -> Any:
            return super().__new__(cls, "cpu")

    return Generator


def _step(scaler: Any, optimizer: Any, state: Any, *given: Any, **named: Any) -> Any:
    return optimizer.step(*given, **named)


def _of_the_cpu(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a device's mixed precision that answers for the CPU's."""

    def of_the_cpu(*given: Any) -> Any:
        return function("cpu") if given and given[0] in ("cuda", "mps") else function(*given)

    return of_the_cpu


def _mixed_precision(stack: ExitStack) -> Callable[..., None]:
    """Return an `__init__` of `torch.autocast` by which mixed precision is that of MPS.

    It is on for the CPU's tensors, and the CPU's list is that of MPS until the stack is left. What a library
    asks for the CPU does not change that, as it does not on MPS.
    """
    import torch

    original = torch.amp.autocast_mode.autocast.__init__
    listed: list[str] = []

    def init(
        self: Any, device_type: str, dtype: Any = None, enabled: bool = True, *more: Any, **named: Any
    ) -> None:
        if not listed:
            listed.append("mps")
            stack.enter_context(mixed_precision.list_of_mps())
        if device_type == "cpu" and owner_of(sys._getframe(1).f_code.co_filename) == "library":
            enabled, dtype = torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")
        if device_type in ("cuda", "mps", "cpu"):
            device_type, dtype = "cpu", torch.float16 if dtype is None else dtype
        original(self, device_type, dtype, enabled, *more, **named)

    return init


def _set(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until the stack is left."""
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)
