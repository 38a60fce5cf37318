"""PyTorch's default device as `%mlc_device` sets it: correct code that needs PyTorch's CPU still works.

PyTorch's own default device reaches every call that creates a tensor, also those inside PyTorch, and makes
some of them fail. Read in PyTorch 2.13 (`torch.utils._device`, and the samplers, data sets and loader of
`torch.utils.data`). What is done here instead (the reasons are in adr/0051):

* Samplers and `random_split` draw with a generator of the CPU (pytorch/pytorch#110820), and so may the user.
  A GPU cannot draw with it. Such values are drawn where the generator is, and moved to the GPU.
* A forked worker of a DataLoader inherits the default device, and CUDA does not work in it. Here, it has
  none. A Mac does not fork workers, so they have none there anyway.
* Apple's GPU has no 64-bit floats. A tensor of such a type is created on the CPU, and so is pinned memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.user_objects import is_one_of

#: The types that a kind of GPU does not have, by the names that PyTorch and NumPy give them.
MISSING_TYPES: Mapping[str, tuple[str, ...]] = {"mps": ("float64", "complex128")}


def select(device: str) -> None:
    """Make `device` this thread's default device, until `torch.set_default_device` is called."""
    torch = module("torch")
    torch.set_default_device(None)
    context = selected_device()(device)
    context.__enter__()
    torch._GLOBAL_DEVICE_CONTEXT.device_context = context  # as `torch.set_default_device` does


@cache
def selected_device() -> type[Any]:
    """Return the class of the default device, made once PyTorch is there, whose class it is derived from."""
    import torch
    from torch.utils._device import DeviceContext, _device_constructors

    class SelectedDevice(DeviceContext):  # type: ignore[misc]  # PyTorch may not be installed
        """The default device of a cell for which `%mlc_device` selected a GPU.

        PyTorch takes it for its own: it returns it as the default device, `torch.compile` traces through it,
        and a device that the user sets replaces it.
        """

        def __init__(self, device: str) -> None:
            super().__init__(device)
            names = MISSING_TYPES.get(self.device.type, ())
            self.missing_types = {name: getattr(torch, name) for name in names}

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
            if generator is not None and not torch.compiler.is_compiling() and self.is_elsewhere(generator):
                return self.draw(func, args, kwargs)
            if func in _device_constructors() and kwargs.get("device") is None and kwargs.get("out") is None:
                kwargs["device"] = "cpu" if self.needs_cpu(args, kwargs) else self.device
            return func(*args, **kwargs)

        def is_elsewhere(self, generator: Any) -> bool:
            """Return True for a generator of PyTorch on a device of another type."""
            return type(generator) is torch.Generator and generator.device.type != self.device.type

        def needs_cpu(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
            """Return True if the tensor cannot be created on this device."""
            if kwargs.get("pin_memory") is True:
                return True
            if not self.missing_types or torch.compiler.is_compiling():
                return False
            dtype: Any = kwargs.get("dtype")
            if dtype is None and args:
                dtype = self.type_of(args[0])
            return is_one_of(dtype, tuple(self.missing_types.values()))

        def type_of(self, data: Any) -> Any:
            """Return the type of a tensor made of a tensor or of NumPy's array; None if it is not known."""
            if type(data) is torch.Tensor:
                return data.dtype
            numpy = module("numpy")
            is_array = numpy is not None and type(data) is numpy.ndarray
            return self.missing_types.get(data.dtype.name) if is_array else None

        def draw(self, func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            """Return what `func` draws where its generator is, moved to this device."""
            place = kwargs["generator"].device
            if func in _device_constructors():
                if {"device", "out", "pin_memory"} & kwargs.keys():
                    return func(*args, **kwargs)
                gradient = kwargs.pop("requires_grad", False)
                return func(*args, **kwargs, device=place).to(self.device).requires_grad_(gradient)
            moved: list[tuple[Any, Any]] = []  # each tensor with its copy

            def there(value: Any) -> Any:
                if not is_one_of(type(value), (torch.Tensor, torch.nn.Parameter)):
                    return value
                if value.device.type != self.device.type:
                    return value
                moved.append((value, value.detach().to(place)))
                return moved[-1][1]

            with torch.no_grad():
                drawn = func(*map(there, args), **{name: there(value) for name, value in kwargs.items()})
                for tensor, copy in moved:
                    if drawn is copy:  # drawn in place
                        return tensor.copy_(copy)
            return drawn.to(self.device) if moved and type(drawn) is torch.Tensor else drawn

    os.register_at_fork(after_in_child=_leave_in_child)
    return SelectedDevice


def _leave_in_child() -> None:
    torch = module("torch")
    context = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    if type(context) is selected_device():
        torch.set_default_device(None)
