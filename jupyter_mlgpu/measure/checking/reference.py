"""Computes an operation again on the CPU: in float64, or in its own number type where nothing is rounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

#: Number types and the wider ones that their values fit in exactly.
_WIDER = {"float16": "float64", "bfloat16": "float64", "float32": "float64"}
_WIDER |= {"complex32": "complex128", "complex64": "complex128"}


class NotComparableError(Exception):
    """An operation that cannot be computed again here."""


@contextmanager
def apart() -> Iterator[None]:
    """Compute without autograd, without the modes of anybody, and without any effect on the user's run."""
    import torch
    from torch.utils._python_dispatch import _disable_current_modes

    with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
        yield


def wider(dtype: Any) -> Any:
    """Return float64 or complex128 for a floating type, and other types as they are."""
    import torch

    return getattr(torch, _WIDER.get(str(dtype).removeprefix("torch."), ""), dtype)


def to_cpu(tensor: Any) -> Any:
    """Return a copy of a tensor's values on the CPU."""
    return tensor.detach().to("cpu", copy=True).resolve_conj().resolve_neg()


@dataclass
class OperationCall:
    """An operation with copies of its arguments on the CPU, taken before it ran.

    `leaves` are the copies in the order of the schema, `types` the number types that they had.
    """

    operation: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    #: The schema's arguments, with the name of each and its place.
    written: tuple[int | str, ...] = ()
    types: list[Any] = field(default_factory=list)

    def argument(self, name: str) -> Any:
        """Return an argument by its name in the schema, or its default."""
        for place, one in enumerate(self.operation._schema.arguments):
            if one.name == name:
                if place < len(self.args):
                    return self.args[place]
                return self.kwargs.get(name, one.default_value)
        raise KeyError(name)

    def map(self, change: Callable[[Any, str, int], Any]) -> OperationCall:
        """Return the call with `change(value, type in the schema, place)` applied to each leaf."""
        from torch.utils._pytree import tree_map

        schema = self.operation._schema.arguments
        places = {one.name: place for place, one in enumerate(schema)}

        def changed(value: Any, place: int) -> Any:
            of_type = str(schema[place].type) if place < len(schema) else ""
            return tree_map(lambda leaf: change(leaf, of_type, place), value)

        args = tuple(changed(value, place) for place, value in enumerate(self.args))
        kwargs = {name: changed(value, places[name]) for name, value in self.kwargs.items()}
        return OperationCall(self.operation, args, kwargs, self.written, self.types)

    def run(self) -> list[Any]:
        """Run the operation on fresh copies and return its results, those written in place among them."""
        import torch

        fresh = _shared(lambda leaf: leaf.clone())
        call = self.map(lambda leaf, of_type, place: fresh(leaf) if isinstance(leaf, torch.Tensor) else leaf)
        try:
            try:
                result = self.operation(*call.args, **call.kwargs)
            except RuntimeError:
                # Operations of one device's library, such as `cudnn_batch_norm`.
                from torch._decomp import decomposition_table

                if self.operation not in decomposition_table:
                    raise
                result = decomposition_table[self.operation](*call.args, **call.kwargs)
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            raise NotComparableError(str(error).partition("\n")[0]) from None
        return outputs(self.operation, call.args, call.kwargs, self.written, result)


def take(operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], *, widen: bool) -> OperationCall:
    """Copy an operation's arguments to the CPU, before it runs.

    With `widen`, floating values become float64. A Python number beside tensors of a lower type is rounded to
    that type, because the operation does so.
    """
    import torch

    written = tuple(
        place if place < len(args) else one.name
        for place, one in enumerate(operation._schema.arguments)
        if _is_written(operation, one) and (place < len(args) or one.name in kwargs)
    )
    call = OperationCall(operation, args, kwargs, written)
    tensors = tensors_of((args, kwargs))
    full = {one.dtype for one in tensors if one.dim()} or {one.dtype for one in tensors}
    floats = [one for one in full if one.is_floating_point or one.is_complex]
    common = max(floats, key=lambda one: (one.itemsize, one.is_complex), default=None)
    copied = _shared(lambda leaf: _copy(leaf, widen, common))

    def change(leaf: Any, of_type: str, place: int) -> Any:
        if isinstance(leaf, torch.Tensor):
            return copied(leaf)
        if isinstance(leaf, torch.device):
            return torch.device("cpu")
        if not widen:
            return leaf
        if isinstance(leaf, torch.dtype):
            return wider(leaf)
        if type(leaf) is float and is_number(of_type) and common is not None:
            return _rounded(leaf, common)
        return leaf

    taken = call.map(change)
    taken.kwargs.pop("pin_memory", None)
    if not tensors and any(one.name == "device" for one in operation._schema.arguments):
        taken.kwargs["device"] = torch.device("cpu")
    taken.types = [one.dtype for one in tensors]
    return taken


def outputs(
    operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any], written: tuple[int | str, ...], result: Any
) -> list[Any]:
    """Return the tensors and numbers that an operation gave: new ones, then those written in place."""
    import torch
    from torch.utils._pytree import tree_leaves

    returns = operation._schema.returns
    only_written = returns and all(one.alias_info is not None and one.alias_info.is_write for one in returns)
    new = [] if only_written else tree_leaves(result)
    changed = [args[one] if isinstance(one, int) else kwargs[one] for one in written]
    return [
        one
        for one in [*new, *tree_leaves(changed)]
        if isinstance(one, torch.Tensor | bool | int | float | complex)
    ]


def _is_written(operation: Any, argument: Any) -> bool:
    """Return True for an argument that is written in place; a batch norm's schema does not say so."""
    if argument.alias_info is not None:
        return bool(argument.alias_info.is_write)
    return argument.name in ("running_mean", "running_var") and operation._schema.name.endswith("batch_norm")


def tensors_of(value: Any) -> list[Any]:
    """Return the tensors in nested arguments or results."""
    import torch
    from torch.utils._pytree import tree_leaves

    return [one for one in tree_leaves(value) if isinstance(one, torch.Tensor)]


def is_plain(tensor: Any) -> bool:
    """Return True for an ordinary tensor: neither sparse, quantized nor nested, nor a class of its own."""
    import torch

    return (
        type(tensor).__torch_dispatch__ is torch.Tensor.__torch_dispatch__
        and tensor.layout is torch.strided
        and not tensor.is_quantized
        and not tensor.is_nested
        and tensor.device.type != "meta"
    )


def _copy(tensor: Any, widen: bool, common: Any) -> Any:
    import torch

    copy = to_cpu(tensor)
    if not widen:
        return copy
    lower = common is not None and common.itemsize < tensor.dtype.itemsize
    if lower and not tensor.dim() and tensor.dtype == torch.float64:
        copy = copy.to(common)  # a number beside tensors does not widen their type
    return copy.to(wider(copy.dtype))


def is_number(of_type: str) -> bool:
    """Return True for the type of an argument that holds a number; in a tensor's place, it stands for one."""
    return of_type.startswith(("number", "Optional[number]", "Tensor", "Optional[Tensor]"))


def _rounded(number: float, dtype: Any) -> float:
    import torch

    if not math.isfinite(number):
        return number
    real = {torch.complex64: torch.float32, torch.complex128: torch.float64}.get(dtype, dtype)
    return float(torch.tensor(number, dtype=torch.float64, device="cpu").to(real).item())


def _shared(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that makes one copy of a tensor, however often it is an argument."""
    made: dict[int, Any] = {}

    def one(tensor: Any) -> Any:
        if id(tensor) not in made:
            made[id(tensor)] = make(tensor)
        return made[id(tensor)]

    return one
