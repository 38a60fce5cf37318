"""The devices of the user's PyTorch tensors and modules, read without running the user's code."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.placed_values import LIMIT, PlacedValue, contained_values
from jupyter_mlgpu.measure.user_objects import attributes, is_a, is_one_of


def tensors(values: Mapping[str, object]) -> list[PlacedValue]:
    """Return each value that contains tensors, with their number by device."""
    torch: Any = module("torch")
    walk = _Walk(torch)
    found = []
    # PyTorch itself returns a tensor's device, not a function mode that the user may have entered.
    with torch._C.DisableTorchFunction():
        for name, contained, cut in contained_values(values):
            parts: Counter[str] = Counter()
            for one in contained:
                parts.update(walk.devices(one))
            if parts:
                found.append(PlacedValue(name, parts, walk.what(values[name]), cut or walk.full))
    return found


def moving_call(value: object, device: Device) -> str:
    """Return the call that moves a tensor or a module to a device, such as `to('cuda:0')`.

    Apple's GPU has no 64-bit floats, so a tensor of them is converted.
    """
    torch: Any = module("torch")
    if device.kind == "metal" and is_one_of(type(value), (torch.Tensor, torch.nn.Parameter)):
        tensor: Any = value
        with torch._C.DisableTorchFunction():
            if tensor.dtype is torch.float64:
                return f"to({device.native_name!r}, torch.float32)"
    return f"to({device.native_name!r})"


class _Walk:
    """A walk through modules that skips what it has visited before and what is beyond the limit."""

    def __init__(self, torch: Any) -> None:
        # Exactly these types: a subclass may be the user's, and compute its own device.
        self.kinds = (torch.Tensor, torch.nn.Parameter)
        self._module = torch.nn.Module
        self._visited: set[int] = set()

    @property
    def full(self) -> bool:
        """True if the limit is reached."""
        return len(self._visited) >= LIMIT

    def what(self, value: object) -> str | None:
        """Return the noun for a value's tensors; None for a single tensor."""
        if is_one_of(type(value), self.kinds):
            return None
        return "weights" if is_a(value, self._module) else "tensors"

    def devices(self, value: object) -> Iterator[str]:
        """Yield the device of a tensor, or of each parameter and buffer of a module."""
        remaining: list[Any] = [value]
        while remaining and not self.full:
            one = remaining.pop()
            if id(one) in self._visited:
                continue
            if is_one_of(type(one), self.kinds):
                self._visited.add(id(one))
                yield short(one.device)
            elif is_a(one, self._module):
                self._visited.add(id(one))
                own = attributes(one)
                for part in ("_parameters", "_buffers", "_modules"):
                    content: Any = own.get(part)
                    # Only PyTorch's own types; an object of another type may be the user's.
                    if is_one_of(type(content), (dict, OrderedDict)):
                        remaining.extend(content.values())


def short(device: Any) -> str:
    """Return our short name of PyTorch's device object."""
    return f"{'gpu' if device.type in ('cuda', 'mps') else device.type}:{device.index or 0}"
