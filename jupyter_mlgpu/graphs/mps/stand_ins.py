"""Replaces the user's tensors with fake ones while a step is traced, and puts all back afterwards.

A fake tensor has a shape, strides and a number type, and no values, so nothing is copied or computed. It
stands on the CPU whatever the device of the tensor: PyTorch ends the process if it records gradients for a
device that it was not built for. Modules, optimizers and names that a function uses hold the stand-ins during
the trace.
"""

from __future__ import annotations

import copy
import functools
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from jupyter_mlgpu.graphs.mps.places import owner_of
from jupyter_mlgpu.measure.uninterrupted import Uninterrupted
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, say

#: Steps from a function to its modules and tensors: an attribute or an item of a list is one step.
_DEEPEST = 6


class StandIns:
    """Fake tensors of the user's tensors, one each, made in a `FakeTensorMode`."""

    def __init__(self, mode: Any) -> None:
        self.mode = mode
        self.notes: list[Sentence] = []
        self.devices: set[str] = set()
        self.layers: dict[int, str] = {}
        self._made: dict[int, Any] = {}
        self._kept: list[Any] = []  # so that no identity is used twice
        self._undo: list[Callable[[], None]] = []
        self._seen: set[int] = set()

    def of(self, value: Any) -> Any:
        """Return a value with fake tensors in place of its tensors; lists and dicts are copied."""
        from torch import Tensor
        from torch.utils._pytree import tree_map

        return tree_map(lambda one: self.fake(one) if isinstance(one, Tensor) else one, value)

    def fake(self, tensor: Any) -> Any:
        """Return the fake tensor that stands for a tensor."""
        import torch
        from torch._subclasses.fake_tensor import FakeTensor

        if isinstance(tensor, FakeTensor) and tensor.fake_mode is self.mode:
            return tensor
        if id(tensor) in self._made:
            return self._made[id(tensor)]
        if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin):
            raise PlanError(
                say("A lazy layer has no weights yet, so nothing can be planned: run the model once.")
            )
        self.devices.add(str(tensor.device))
        grads = tensor.requires_grad
        with self.mode, torch.no_grad():
            made = self._empty(tensor)
            if isinstance(tensor, torch.nn.Parameter):
                made = torch.nn.Parameter(made, requires_grad=grads)
            else:
                made.requires_grad_(grads)
        self._made[id(tensor)] = made
        self._kept.append(tensor)
        if tensor.is_leaf and grads:
            # Where the tensor itself was used after all, it would keep a fake gradient.
            self._undo.append(functools.partial(setattr, tensor, "grad", tensor.grad))
            if tensor.grad is not None:
                made.grad = self.fake(tensor.grad)
        return made

    def _empty(self, tensor: Any) -> Any:
        import torch

        shape = tuple(tensor.size()) if not tensor.is_nested else None
        if shape is None:
            raise PlanError(
                say("A nested tensor has no single shape: plan one of its parts, or a padded tensor.")
            )
        if tensor.is_quantized:
            self.notes.append(
                say("A quantized tensor cannot be on MPS, which has no such types: float32 stood for it.")
            )
            return torch.empty(shape, device="cpu")
        if tensor.layout != torch.strided:
            self.notes.append(
                say(
                    "What is done with a sparse tensor ({layout}) is not covered: a dense one stood for it.",
                    layout=str(tensor.layout).removeprefix("torch."),
                )
            )
            return torch.empty(shape, dtype=tensor.dtype, device="cpu")
        return torch.empty_strided(shape, tensor.stride(), dtype=tensor.dtype, device="cpu")

    @contextmanager
    def standing_in(self, *used: Any) -> Iterator[None]:
        """Replace the tensors of modules, optimizers and names that these values reach, and put them back."""
        import torch

        states = torch.get_rng_state(), random.getstate()
        numpy = sys.modules.get("numpy")
        numpy_state = numpy.random.get_state() if numpy is not None else None
        try:
            for one in used:
                self._reach(one, 0)
            yield
        finally:
            with Uninterrupted():
                for undo in reversed(self._undo):
                    undo()
                torch.set_rng_state(states[0])
                random.setstate(states[1])
                if numpy is not None:
                    numpy.random.set_state(numpy_state)

    def _reach(self, value: Any, depth: int) -> None:
        from torch import Tensor, dtype
        from torch.nn import Module
        from torch.optim import Optimizer

        plain = (str, bytes, int, float, complex, type(None), ModuleType, type, BuiltinFunctionType)
        if depth > _DEEPEST or id(value) in self._seen or isinstance(value, (*plain, Tensor, dtype)):
            return
        self._seen.add(id(value))
        self._kept.append(value)
        if isinstance(value, FunctionType):
            if owner_of(value.__code__.co_filename) == "user":
                self._reach_function(value, depth)
            elif wrapped := getattr(value, "__wrapped__", None):
                self._reach(wrapped, depth)
        elif isinstance(value, MethodType):
            self._reach(value.__self__, depth)
            self._reach(value.__func__, depth)
        elif isinstance(value, functools.partial):
            self._reach((value.func, value.args, value.keywords), depth)
        elif isinstance(value, dict):
            for one in list(value.values()):
                self._reach(one, depth + 1)
        elif isinstance(value, list | tuple | set):
            for one in list(value):
                self._reach(one, depth + 1)
        elif isinstance(value, Module):
            for name, one in value.named_modules():
                self.layers.setdefault(id(one), name or type(one).__name__)
                self._seen.add(id(one))
                self._replace_attributes(one)
        elif (isinstance(value, Optimizer) or _may_hold_tensors(type(value))) and isinstance(
            getattr(value, "__dict__", None), dict
        ):
            attributes = list(vars(value).values())
            self._replace_attributes(value)
            if isinstance(value, Optimizer):
                kept = {self.fake(one): self.of(state) for one, state in value.state.items()}
                vars(value)["state"] = defaultdict(dict, kept)
            for one in attributes:
                self._reach(one, depth + 1)

    def _replace_attributes(self, value: Any) -> None:
        """Give an object copies of its attributes' containers, with fake tensors in them."""
        attributes = vars(value)
        before = dict(attributes)

        def put_back() -> None:
            attributes.clear()
            attributes.update(before)

        self._undo.append(put_back)
        for name, one in before.items():
            attributes[name] = self._replaced(one)

    def _replaced(self, value: Any) -> Any:
        from torch import Tensor

        if isinstance(value, Tensor):
            return self.fake(value)
        if not isinstance(value, dict | list | tuple | set):
            return value
        made = self.of(value)
        return copy.copy(value) if made is value else made

    def _reach_function(self, function: FunctionType, depth: int) -> None:
        for cell in function.__closure__ or ():
            try:
                before = cell.cell_contents
            except ValueError:  # a name without a value yet
                continue
            self._undo.append(functools.partial(setattr, cell, "cell_contents", before))
            cell.cell_contents = self._replaced(before)
            self._reach(before, depth + 1)
        names = function.__globals__
        for name in _names(function.__code__):
            if name in names:
                before = names[name]
                self._undo.append(functools.partial(names.__setitem__, name, before))
                names[name] = self._replaced(before)
                self._reach(before, depth + 1)
        self._reach([function.__defaults__, function.__kwdefaults__], depth)


def _may_hold_tensors(kind: type) -> bool:
    """Return True for the user's own classes and for PyTorch's schedulers and data loaders.

    Objects of other libraries, such as the notebook's shell, are left alone.
    """
    module = str(kind.__module__)
    if module.startswith(("torch.optim.", "torch.amp.", "torch.utils.data.")):
        return True
    file = getattr(sys.modules.get(module), "__file__", None)
    return module == "__main__" or (file is not None and owner_of(file) == "user")


def _names(code: CodeType) -> set[str]:
    """Return the names that a function and those within it may look up."""
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)
