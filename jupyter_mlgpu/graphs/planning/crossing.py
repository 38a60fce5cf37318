"""The tensors that would have to be copied between the host's memory and the device's."""

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
# TensorFlow keeps these in the host's memory whatever the device. A resource is a handle to something.
_ALWAYS_ON_HOST = ("string", "resource")
# These take and give int32 in the host's memory, wherever the functions that they call have it.
_BY_TYPE = CALLS | BRANCHES | LOOPS | {"Placeholder", "SymbolicGradient"}
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


def crossings(flow: Flow, placements: Mapping[Key, Placement]) -> tuple[Crossing, ...]:
    """What would be copied, in the order in which it is read: each tensor once for each side."""
    found: dict[tuple[Maker, str, bool, str], Crossing] = {}
    for body in flow.bodies.values():
        for operand, reader, side, way in _reads(flow, body, placements):
            for maker in flow.makers(body, operand):
                result = flow.result(maker)
                if result is None or result.type in _HANDLES:
                    continue
                made = _made(flow, maker, result, placements)
                read = reader or _by_type(result.type)
                if made != read:
                    tensor = f"{maker.name}:{maker.output}"
                    crossing = Crossing(
                        maker.function, tensor, result.type, read, result.bytes, result.why_missing
                    )
                    found.setdefault((maker, read, side, way), crossing)
    return tuple(found.values())


def _made(flow: Flow, maker: Maker, result: GivenTensor, placements: Mapping[Key, Placement]) -> str:
    placement = placements.get(maker.key)
    if placement is None or flow.nodes[maker.key].operation in _BY_TYPE:
        return _by_type(result.type)
    return _memory(placement, result.argument, result.type)


def _reads(
    flow: Flow, body: Body, placements: Mapping[Key, Placement]
) -> Iterator[tuple[Operand, str | None, bool, str]]:
    """Every reading of a tensor: in which memory (None: by type), on the device or not, for which branch."""
    for node in body.nodes:
        placement = placements[body.name, node.name]
        for place, operand in enumerate(node.operands):
            if flow.called(node) is not None or (node.operation in BRANCHES and place > 0):
                continue  # the functions read it
            if node.operation in BRANCHES:
                yield from ((operand, None, True, way) for _, way in node.calls)  # each begins on the device
            if node.operation in _BY_TYPE and operand.argument not in placement.host_memory:
                yield operand, None, True, ""
            else:
                yield operand, _memory(placement, operand.argument, ""), placement.on_device, ""
    callers = flow.callers.get(body.name, [])
    for operand in body.returns:
        if any(call.operation in LOOPS and attribute == "cond" for _, call, attribute in callers):
            yield operand, "host", True, ""  # whether to go on
        elif not callers or any(call.operation in BRANCHES | LOOPS for _, call, _ in callers):
            yield operand, None, True, ""


def _memory(placement: Placement, argument: str, kind: str) -> str:
    on_host = not placement.on_device or argument in placement.host_memory or kind in _ALWAYS_ON_HOST
    return "host" if on_host else "device"


def _by_type(kind: str) -> str:
    return "host" if kind in _ALWAYS_ON_HOST or kind == "int32" else "device"
