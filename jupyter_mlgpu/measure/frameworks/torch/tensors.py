"""Where the user's PyTorch tensors and modules lie, read without running code of the user's."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module
from jupyter_mlgpu.measure.frameworks.misplaced_values import LIMIT, MisplacedValue, each, own
from jupyter_mlgpu.measure.user_objects import is_a, is_one_of


def tensors(values: Mapping[str, object]) -> list[MisplacedValue]:
    """The tensors of each value that has some, by the device on which they lie."""
    torch: Any = module("torch")
    walk = _Walk(torch)
    found = []
    # A tensor's device is asked of PyTorch itself, not of a function mode that the user may have entered.
    with torch._C.DisableTorchFunction():
        for name, held, cut in each(values):
            parts: Counter[str] = Counter()
            for one in held:
                parts.update(walk.devices(one))
            if parts:
                found.append(MisplacedValue(name, parts, walk.what(values[name]), cut or walk.full))
    return found


class _Walk:
    """Goes through modules once; what it has seen before, and what is beyond the limit, is left out."""

    def __init__(self, torch: Any) -> None:
        # Of exactly these types: a subclass may be the user's, and answer for its device by itself.
        self.kinds = (torch.Tensor, torch.nn.Parameter)
        self._module = torch.nn.Module
        self._seen: set[int] = set()

    @property
    def full(self) -> bool:
        """Whether the limit is reached."""
        return len(self._seen) >= LIMIT

    def what(self, value: object) -> str | None:
        """What a value's tensors are called; None for a tensor by itself."""
        if is_one_of(type(value), self.kinds):
            return None
        return "weights" if is_a(value, self._module) else "tensors"

    def devices(self, value: object) -> Iterator[str]:
        """The device of a tensor, or of each parameter and buffer of a module."""
        waiting: list[Any] = [value]
        while waiting and not self.full:
            one = waiting.pop()
            if id(one) in self._seen:
                continue
            if is_one_of(type(one), self.kinds):
                self._seen.add(id(one))
                yield _short(one.device)
            elif is_a(one, self._module):
                self._seen.add(id(one))
                attributes = own(one)
                for part in ("_parameters", "_buffers", "_modules"):
                    held: Any = attributes.get(part)
                    # PyTorch's own; of another type it may be the user's.
                    if is_one_of(type(held), (dict, OrderedDict)):
                        waiting.extend(held.values())


def _short(device: Any) -> str:
    return f"{'gpu' if device.type in ('cuda', 'mps') else device.type}:{device.index or 0}"
