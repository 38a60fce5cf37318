"""Find the tensors that would be copied between host memory and device memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jupyter_mlgpu.graphs.planning.flow import BRANCHES, CALLS, LOOPS, Flow, Key, Maker
from jupyter_mlgpu.graphs.planning.graph import Body, GivenTensor, Operand
from jupyter_mlgpu.graphs.planning.placing import Placement
from jupyter_mlgpu.record.sentence import say

RULE = say(
    "A tensor is counted once for each side that reads it, no matter how often the function "
    "that produces it is called or loops; both arms of a branch count, and handles are not "
    "copied."
)
# TensorFlow keeps these types in host memory on every device. A resource is a handle to something.
_ALWAYS_ON_HOST = ("string", "resource")
# Operations that take and return int32 in host memory, wherever the functions that they call keep it.
_BY_TYPE = CALLS | BRANCHES | LOOPS | {"Placeholder", "SymbolicGradient"}
_HANDLES = ("resource", "variant")


@dataclass(frozen=True)
class Crossing:
    """One tensor that is copied `to` the host or the device; `bytes` is None if its size is not known."""

    function: str
    tensor: str
    type: str
    to: str
    bytes: int | None
    why_missing: str = ""


def crossings(flow: Flow, placements: Mapping[Key, Placement]) -> tuple[Crossing, ...]:
    """Return the copies in the order in which they are read: each tensor once for each side."""
    found: dict[tuple[Maker, str, bool, str], Crossing] = {}
    for body in flow.bodies.values():
        for operand, reader, side, way in _reads(flow, body, placements):
            for maker in flow.makers(body, operand):
                result = flow.result(maker)
                if result is None or result.type in _HANDLES:
                    continue
                made_in = _maker_memory(flow, maker, result, placements)
                read = reader or _by_type(result.type)
                if made_in != read:
                    tensor = f"{maker.name}:{maker.output}"
                    crossing = Crossing(
                        maker.function, tensor, result.type, read, result.bytes, result.why_missing
                    )
                    found.setdefault((maker, read, side, way), crossing)
    return tuple(found.values())


def _maker_memory(flow: Flow, maker: Maker, result: GivenTensor, placements: Mapping[Key, Placement]) -> str:
    placement = placements.get(maker.key)
    if placement is None or flow.nodes[maker.key].operation in _BY_TYPE:
        return _by_type(result.type)
    return _memory(placement, result.argument, result.type)


def _reads(
    flow: Flow, body: Body, placements: Mapping[Key, Placement]
) -> Iterator[tuple[Operand, str | None, bool, str]]:
    """Yield each read of a tensor: its memory (None: by type), True if on the device, and the branch."""
    for node in body.nodes:
        placement = placements[body.name, node.name]
        for place, operand in enumerate(node.operands):
            if flow.called(node) is not None or (node.operation in BRANCHES and place > 0):
                continue  # the called functions read it
            if node.operation in BRANCHES:
                # Each branch begins on the device.
                yield from ((operand, None, True, way) for _, way in node.calls)
            if node.operation in _BY_TYPE and operand.argument not in placement.host_memory:
                yield operand, None, True, ""
            else:
                yield operand, _memory(placement, operand.argument, ""), placement.on_device, ""
    callers = flow.callers.get(body.name, [])
    for operand in body.returns:
        if any(call.operation in LOOPS and attribute == "cond" for _, call, attribute in callers):
            yield operand, "host", True, ""  # the condition of the loop
        elif not callers or any(call.operation in BRANCHES | LOOPS for _, call, _ in callers):
            yield operand, None, True, ""


def _memory(placement: Placement, argument: str, kind: str) -> str:
    on_host = not placement.on_device or argument in placement.host_memory or kind in _ALWAYS_ON_HOST
    return "host" if on_host else "device"


def _by_type(kind: str) -> str:
    return "host" if kind in _ALWAYS_ON_HOST or kind == "int32" else "device"
