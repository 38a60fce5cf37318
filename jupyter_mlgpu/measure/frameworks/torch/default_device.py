"""PyTorch's default device as `%mlc_device` sets it: correct code that needs PyTorch's CPU still works.

PyTorch's own default device reaches every call that creates a tensor, also those inside PyTorch, and makes
some of them fail. Read in torch/utils/_device.py, and in sampler.py, dataset.py and dataloader.py of
torch/utils/data, of PyTorch 2.13. What is done here instead (the reasons are in adr/0051):

* `RandomSampler` and `random_split` draw with a generator of the CPU (pytorch/pytorch#110820), and so may the
  user. A GPU cannot draw with it. Such values are drawn where the generator is, and moved to the GPU.
* A forked worker of a DataLoader inherits the default device, and CUDA does not work in it. Here, it has
  none. A Mac does not fork workers, so they have none there anyway.
* Apple's GPU has no 64-bit floats. A tensor of such a type is created on the CPU, and so is pinned memory.

This module imports PyTorch at the top, so it is imported only once the user's code has done so.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch.utils._device import DeviceContext, _device_constructors

#: The types that a kind of GPU does not have, by PyTorch's and by NumPy's names.
_MISSING_TYPES: Mapping[str, tuple[torch.dtype, ...]] = {"mps": (torch.float64, torch.complex128)}
_TENSORS = (torch.Tensor, torch.nn.Parameter)


class SelectedDevice(DeviceContext):  # type: ignore[misc]  # PyTorch may not be installed
    """The default device of a cell for which `%mlc_device` selected a GPU.

    PyTorch takes it for its own: `torch.get_default_device()` returns it, `torch.compile` traces through it,
    and a `torch.device(...)` or `torch.set_default_device` of the user replaces it.
    """

    def __init__(self, device: str) -> None:
        super().__init__(device)
        self._missing_types = _MISSING_TYPES.get(self.device.type, ())

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Call `func`, on this device if it creates a tensor and nothing in the call says otherwise."""
        kwargs = kwargs or {}
        generator = kwargs.get("generator")
        if generator is not None and not torch.compiler.is_compiling() and self._is_elsewhere(generator):
            return self._draw(func, args, kwargs)
        if func in _device_constructors() and kwargs.get("device") is None and kwargs.get("out") is None:
            kwargs["device"] = "cpu" if self._needs_cpu(args, kwargs) else self.device
        return func(*args, **kwargs)

    def _is_elsewhere(self, generator: Any) -> bool:
        # Only PyTorch's own type: the attributes of another object may run the user's code.
        return type(generator) is torch.Generator and generator.device.type != self.device.type

    def _needs_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Return True if the tensor cannot be created on this device."""
        if kwargs.get("pin_memory") is True:
            return True
        dtype = kwargs.get("dtype")
        if dtype is None and self._missing_types and not torch.compiler.is_compiling():
            dtype = _type_of(args[0]) if args else None
        return dtype in self._missing_types

    def _draw(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return what `func` draws where its generator is, moved to this device."""
        place = kwargs["generator"].device
        if func in _device_constructors():
            if {"device", "out", "pin_memory"} & kwargs.keys():
                return func(*args, **kwargs)
            gradient = kwargs.pop("requires_grad", False)
            return func(*args, **kwargs, device=place).to(self.device).requires_grad_(gradient)
        moved: list[tuple[Any, Any]] = []  # each tensor with its copy

        def there(value: Any) -> Any:
            if type(value) not in _TENSORS or value.device.type != self.device.type:
                return value
            moved.append((value, value.detach().to(place)))
            return moved[-1][1]

        with torch.no_grad():
            drawn = func(*map(there, args), **{name: there(value) for name, value in kwargs.items()})
            for tensor, copy in moved:
                if drawn is copy:  # drawn in place, such as by `Tensor.normal_`
                    return tensor.copy_(copy)
        return drawn.to(self.device) if moved and type(drawn) is torch.Tensor else drawn


def select(device: str) -> None:
    """Make `device` this thread's default device, until `torch.set_default_device` is called."""
    torch.set_default_device(None)
    context = SelectedDevice(device)
    context.__enter__()
    torch._GLOBAL_DEVICE_CONTEXT.device_context = context  # as `torch.set_default_device` does


def _type_of(data: Any) -> torch.dtype | None:
    """Return the type of a tensor made of this data, if it is a tensor or NumPy's array of 64-bit floats."""
    if type(data) is torch.Tensor:
        return data.dtype
    numpy = sys.modules.get("numpy")
    if numpy is None or type(data) is not numpy.ndarray:
        return None
    return {"float64": torch.float64, "complex128": torch.complex128}.get(data.dtype.name)


def _leave_in_child() -> None:
    if isinstance(getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None), SelectedDevice):
        torch.set_default_device(None)


os.register_at_fork(after_in_child=_leave_in_child)
