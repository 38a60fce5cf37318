"""The tensors that would have to be copied between the host's memory and the device's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.planning.graph import Body, Operand, Result
from jupyter_mlgpu.planning.placing import Placement

RULE = (
    "A tensor is counted once for each direction in which it would be copied, in each function once, however "
    "often that is called or loops; constants are made where they are read, and handles are not copied."
)
# TensorFlow keeps these in the host's memory whatever the device. A resource is a handle to something.
_ALWAYS_ON_HOST = ("string", "resource")
# For the arguments of a called function TensorFlow goes by the type: int32 stays with the host.
_CALLS = ("PartitionedCall", "StatefulPartitionedCall", "While", "StatelessWhile", "SymbolicGradient")
_HANDLES = ("resource", "variant")


@dataclass(frozen=True)
class Crossing:
    """One tensor on its way `to` the host or the device; `bytes` is None where its size is not known."""

    function: str
    tensor: str
    type: str
    to: str
    bytes: int | None
    why_missing: str = ""


def crossings(body: Body, placements: Mapping[str, Placement]) -> tuple[Crossing, ...]:
    """What would be copied within one function, each tensor and direction once, in the graph's order."""
    found: dict[tuple[str, str], Crossing] = {}
    nodes = {node.name: node for node in body.nodes}
    for operand, memory in _reads(body, placements):
        node = nodes.get(operand.node)
        if node is None:
            result: Result | None = body.arguments.get(operand.node)
            made = _by_type(result.type) if result else memory
        elif node.operation == "Const":
            continue
        else:
            result = node.results[operand.output] if operand.output < len(node.results) else None
            made = _memory(placements[node.name], result.argument, result.type) if result else memory
        if result is None or made == memory or result.type in _HANDLES:
            continue
        tensor = f"{operand.node}:{operand.output}"
        found.setdefault(
            (tensor, memory),
            Crossing(body.name, tensor, result.type, memory, result.bytes, result.why_missing),
        )
    return tuple(found.values())


def _reads(body: Body, placements: Mapping[str, Placement]) -> Iterator[tuple[Operand, str]]:
    """Every reading of a tensor, and in which memory it is read."""
    types = {(node.name, place): one.type for node in body.nodes for place, one in enumerate(node.results)}
    types |= {(name, 0): one.type for name, one in body.arguments.items()}
    for node in body.nodes:
        for operand in node.operands:
            kind = types.get((operand.node, operand.output), "")
            yield operand, _memory(placements[node.name], operand.argument, kind)
    for operand in body.returns:
        yield operand, _by_type(types.get((operand.node, operand.output), ""))


def _memory(placement: Placement, argument: str, kind: str) -> str:
    if not placement.on_device or argument in placement.host_memory:
        return "host"
    return _by_type(kind) if placement.operation in _CALLS or kind in _ALWAYS_ON_HOST else "device"


def _by_type(kind: str) -> str:
    return "host" if kind in _ALWAYS_ON_HOST or kind == "int32" else "device"
