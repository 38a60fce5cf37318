"""Operations that are exact only with some of their arguments, and the places where any result is right."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.measure.checking.kinds import ComparisonKind, base_name
from jupyter_mlgpu.measure.checking.reference import OperationCall, tensors_of


def settled(
    kind: ComparisonKind, operation: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> ComparisonKind:
    """Return an operation's kind, which may depend on its arguments."""
    import torch

    name, call = base_name(operation), OperationCall(operation, args, kwargs)
    if name in ("index_put", "_index_put_impl", "_unsafe_index_put"):
        return ComparisonKind.LINEAR if call.argument("accumulate") else ComparisonKind.EXACT
    if name in ("scatter", "scatter_reduce", "index_reduce") and "reduce" in _arguments(operation):
        ways = {"sum": ComparisonKind.LINEAR, "add": ComparisonKind.LINEAR, "mean": ComparisonKind.LINEAR}
        ways |= {"amax": ComparisonKind.EXACT, "amin": ComparisonKind.EXACT}
        return ways.get(call.argument("reduce"), ComparisonKind.GENERAL)
    if name in ("abs", "sgn", "_foreach_abs") and any(map(torch.is_complex, tensors_of((args, kwargs)))):
        return ComparisonKind.ELEMENTWISE  # a square root, and a division by it
    if name == "round" and "decimals" in _arguments(operation):
        return ComparisonKind.ELEMENTWISE
    return kind


def _arguments(operation: Any) -> set[str]:
    return {one.name for one in operation._schema.arguments}


def tolerance_of_exact(call: OperationCall, given: Any) -> Any:
    """Return 0 where only one result is right, and infinity where each device has its own.

    Places that are written twice keep either value. A number beyond the range of a whole type, or NaN, has no
    value there.
    """
    import torch

    name = base_name(call.operation)
    none = torch.zeros((), dtype=torch.float64, device="cpu")
    if name in ("scatter", "index_copy", "index_put", "_index_put_impl", "_unsafe_index_put"):
        return torch.where(_times_written(name, call) > 1, torch.inf, 0.0)
    if name in ("_to_copy", "copy") and not (given.is_floating_point() or given.is_complex()):
        source = call.argument("src" if name == "copy" else "self")
        if source.is_floating_point() and given.dtype != torch.bool:
            limits = torch.iinfo(given.dtype)
            # In float16, the limits of whole types are infinite.
            wide = source.to(torch.float64)
            fits = (wide >= limits.min) & (wide < limits.max + 1)
            return torch.where(fits, 0.0, torch.inf).expand(given.shape)
    return none


def _times_written(name: str, call: OperationCall) -> Any:
    import torch

    target = call.argument("self")
    zeros = torch.zeros(target.shape, dtype=torch.float64, device="cpu")
    if name == "scatter":
        index = call.argument("index")
        ones = torch.ones(index.shape, dtype=torch.float64, device="cpu")
        return zeros.scatter_add(call.argument("dim"), index, ones)
    if name == "index_copy":
        ones = torch.ones(call.argument("source").shape, dtype=torch.float64, device="cpu")
        return zeros.index_add(call.argument("dim"), call.argument("index"), ones)
    one = torch.ones((), dtype=torch.float64, device="cpu")
    return torch.ops.aten.index_put(zeros, call.argument("indices"), one, True)
