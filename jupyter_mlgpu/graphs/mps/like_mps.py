"""Makes code that is written for a GPU run on the CPU's fake tensors, with the operations of a GPU."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from jupyter_mlgpu.graphs.mps.operation_recording import OperationRecording

#: Functions of `torch.cuda`, `torch.mps` and `torch.accelerator` that wait, free or count on a device.
_DEVICE_CALLS = (
    *("synchronize", "empty_cache", "manual_seed", "manual_seed_all", "seed", "set_device"),
    *("memory_allocated", "max_memory_allocated", "reset_peak_memory_stats", "memory_reserved"),
    *("current_allocated_memory", "driver_allocated_memory", "set_per_process_memory_fraction"),
)


@contextmanager
def like_mps(recording: OperationRecording) -> Iterator[None]:
    """Turn off what only a CPU does, compilation, and calls that would need a GPU, in the block.

    What is on the CPU beside a GPU, too, is not recorded: data loaders, and NumPy's arrays as tensors.
    """
    import torch
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
        _set(stack, torch.amp.autocast_mode.autocast, "__init__", _for_the_cpu(torch.float16))
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


def _for_the_cpu(half: Any) -> Callable[..., None]:
    """Return an `__init__` of `torch.autocast` that takes a GPU's mixed precision as the CPU's."""
    from torch.amp.autocast_mode import autocast

    original = autocast.__init__

    def init(self: Any, device_type: str, dtype: Any = None, *given: Any, **named: Any) -> None:
        if device_type in ("cuda", "mps"):
            device_type, dtype = "cpu", half if dtype is None else dtype
        original(self, device_type, dtype, *given, **named)

    return init


def _set(stack: ExitStack, owner: Any, name: str, value: Any) -> None:
    """Set an attribute until the stack is left."""
    stack.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)
