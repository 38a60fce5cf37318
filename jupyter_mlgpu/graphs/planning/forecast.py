"""`plan`: what would run where, as a whole."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

from jupyter_mlgpu.graphs.planning.crossing import RULE, Crossing, crossings
from jupyter_mlgpu.graphs.planning.flow import Flow
from jupyter_mlgpu.graphs.planning.graph import FunctionGraph
from jupyter_mlgpu.graphs.planning.placer import move_to_cpu
from jupyter_mlgpu.graphs.planning.placing import Placement, PlanTarget, place
from jupyter_mlgpu.graphs.planning.placing import target as target_named
from jupyter_mlgpu.graphs.planning.subgraphs import Group, divide
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.displayable import Pictured
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.graphs.mps.forecast import MpsForecast

#: The targets of TensorFlow's graphs.
GraphTarget = Literal["metal", "metal-community", "cuda", "mlcompute"]

GROUPS = say(
    "A subgraph is a group of operations that can run on the device as a whole: within each "
    "function, dependencies between operations on the device are contracted wherever that "
    "creates no cycle. Groups without an operation that the target itself supports are left "
    "out."
)


@dataclass(frozen=True)
class Subgraph:
    """A contiguous part of one function on the device.

    `operations` counts its operations, `own` those that the target's own kernels run.
    """

    function: str
    operations: int
    own: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Fallback:
    """Operations that would fall back to the CPU for the same reason."""

    operation: str
    reason: Sentence
    count: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, repr=False)
class Plan(Pictured):
    """A forecast of what would run where, made by `plan`.

    It is displayed in a notebook as a table and a picture."""

    subject: str
    target: PlanTarget
    graph: FunctionGraph
    placements: tuple[Placement, ...]
    groups: tuple[Group, ...]
    crossings: tuple[Crossing, ...]

    @cached_property
    def counts(self) -> dict[str, int]:
        """Operations by where they may run: the target, core, default, cpu, beside (see `Placement`)."""
        counted = Counter(one.where for one in self.placements)
        return {where: counted[where] for where in (self.target.where, "core", "default", "cpu", "beside")}

    @cached_property
    def subgraphs(self) -> tuple[Subgraph, ...]:
        """The contiguous device subgraphs, the largest first."""
        own = {(one.function, one.node) for one in self.placements if one.where == self.target.where}
        found = []
        for group in self.groups:
            own_kernels = sum((group.function, node) in own for node in group.nodes)
            if group.on_device and own_kernels:
                found.append(Subgraph(group.function, len(group.nodes), own_kernels, group.nodes))
        return tuple(sorted(found, key=lambda one: -one.operations))

    @cached_property
    def fallbacks(self) -> tuple[Fallback, ...]:
        """The operations without a kernel, which fall back to the CPU, by reason, the most frequent first."""
        reasons: dict[tuple[str, Sentence], list[str]] = {}
        for one in self.placements:
            if one.where == "cpu":
                reasons.setdefault((one.operation, one.reason), []).append(one.node)
        found = [Fallback(*key, len(nodes), tuple(nodes)) for key, nodes in reasons.items()]
        return tuple(sorted(found, key=lambda one: (-one.count, one.reason)))

    @property
    def known_bytes(self) -> int:
        """The bytes of all crossing tensors whose size is known."""
        return sum(one.bytes for one in self.crossings if one.bytes is not None)

    @property
    def unknown_sizes(self) -> tuple[Crossing, ...]:
        """The crossing tensors whose size is not known, each with the reason."""
        return tuple(one for one in self.crossings if one.bytes is None)

    @property
    def notes(self) -> tuple[str, ...]:
        """The limits of the figures, which are part of every output."""
        return (*self.target.caveats, GROUPS, RULE)

    @property
    def sources(self) -> tuple[str, ...]:
        """The kernel tables that were used."""
        tables = (self.target.own, self.target.core)
        return tuple(dict.fromkeys(f"{table.title}: {table.origin}" for table in tables))

    def summary(self) -> str:
        """Return the plan in words."""
        return repr(self)

    def to_json(self) -> dict[str, Any]:
        """Return the plan as JSON-ready data."""
        data: dict[str, Any] = {
            "subject": self.subject,
            "target": self.target.where,
            "tables": self.sources,
            "notes": self.notes,
            "operations": len(self.placements),
            "counts": self.counts,
            "subgraphs": self.subgraphs,
            "fallbacks": self.fallbacks,
            "crossing": {
                "known_bytes": self.known_bytes,
                "unknown_sizes": len(self.unknown_sizes),
                "tensors": self.crossings,
            },
            "placements": self.placements,
        }
        json_data: dict[str, Any] = decoding.to_json(data)
        return json_data


@overload
def plan(model_or_function: Any, *inputs: Any, target: Literal["mps"]) -> MpsForecast: ...
@overload
def plan(model_or_function: Any, *inputs: Any, target: GraphTarget = ...) -> Plan: ...
@overload
def plan(model_or_function: Any, *inputs: Any, target: str) -> Plan | MpsForecast: ...
def plan(model_or_function: Any, *inputs: Any, target: str = "metal") -> Plan | MpsForecast:
    """Forecast which operations have a kernel on a device, without running anything and without the device.

    `model_or_function` is a `tf.function` (with inputs), a concrete function, or a built Keras model. With a
    model, no input or one input asks for its forward pass, and two (x and y, as for `fit`) or three (and
    sample weights) for its training step. The model then has to be compiled, and its optimizer and metrics
    get their variables as in `fit`. Only the shapes and types of inputs are used; `tf.TensorSpec` works, too.

    `target` is "metal" (Apple's tensorflow-metal), "metal-community" (tensorflow-metal-plugin, which is not
    Apple's), "cuda" or "mlcompute" (Apple's fork). Raises PlanError for another target, and for what cannot
    be traced. "mps" is for PyTorch: see `jupyter_mlgpu.graphs.mps.forecast.forecast`.
    """
    if target == "mps":
        from jupyter_mlgpu.graphs.mps.forecast import forecast

        return forecast(model_or_function, *inputs)
    to = target_named(target)
    if _is_of_torch(model_or_function, inputs):
        raise PlanError(
            say(
                "The target {target} is for TensorFlow: for PyTorch's modules and functions, choose the "
                "target mps.",
                target=target,
            )
        )
    from jupyter_mlgpu.graphs.planning import reading

    subject, graph = reading.read(model_or_function, inputs, gpu=to.is_gpu)
    return of_graph(graph, to, subject)


def _is_of_torch(subject: Any, inputs: tuple[Any, ...]) -> bool:
    """Return True for what only PyTorch can run: TensorFlow is not imported, or has made neither."""
    torch = sys.modules.get("torch")
    if torch is None:
        return False
    return (
        "tensorflow" not in sys.modules
        or isinstance(subject, torch.nn.Module)
        or any(isinstance(one, torch.Tensor) for one in inputs)
    )


def of_graph(graph: FunctionGraph, to: PlanTarget, subject: str) -> Plan:
    """Return the plan for a graph in plain data."""
    flow = Flow(graph)
    placements = {
        (body.name, node.name): place(node, body.name, to) for body in graph.bodies for node in body.nodes
    }
    if to.is_gpu:
        placements = move_to_cpu(flow, placements)
    groups: list[Group] = []
    for body in graph.bodies:
        groups += divide(body, {node.name: placements[body.name, node.name].on_device for node in body.nodes})
    return Plan(subject, to, graph, tuple(placements.values()), tuple(groups), crossings(flow, placements))
