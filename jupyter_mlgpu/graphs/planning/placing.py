"""Decide where one operation may run by itself, by the rule that combines the tables (docs/adr/0008)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jupyter_mlgpu.graphs.planning import kernels
from jupyter_mlgpu.graphs.planning.graph import Node
from jupyter_mlgpu.graphs.planning.kernels import KernelTable, RegisteredKernel
from jupyter_mlgpu.record.errors import PlanError
from jupyter_mlgpu.record.option_parser import nearest
from jupyter_mlgpu.record.sentence import Sentence, say

FORECAST = say(
    "Operations are placed where TensorFlow's placer would put them before graph optimizers "
    "run. Optimizers, including the Metal plug-in's own, may fold and fuse operations and "
    "decide otherwise. Nothing was run."
)
ELIGIBILITY = say(
    "This is eligibility, not placement: it shows which operations have a kernel. "
    "Colocation, graph optimizers (the Metal plug-in has its own) and TensorFlow's placer "
    "may still decide otherwise."
)
_STAND_IN = say(
    "TensorFlow's own kernels were read from tensorflow-cpu 2.21.0 for Linux, as a stand-in for a Mac build."
)
_COMMUNITYS = say(
    "This is the community plug-in, only for TensorFlow 2.21, and not Apple's "
    "tensorflow-metal. By its own account, that TensorFlow version does not let it access "
    "variables: TensorFlow's own kernels update them on the CPU, in the memory that both "
    "share, and the plug-in waits for the GPU after each kernel."
)
_ANY_DEVICE = say("TensorFlow's own kernel for any device")
_TENSORS = say("only hold or pass on a tensor")
_LAYERS = say(
    "It is not known which operations, and for which types, Apple's TensorFlow fork really "
    "gave to ML Compute: an operation counts if ML Compute names a layer of its kind and its "
    "types at all. Gradients and optimizers, which ML Compute creates itself in a training "
    "graph, are not counted for it."
)


@dataclass(frozen=True)
class PlanTarget:
    """A device to plan for.

    `own` has its kernels, which are under `device` in that table. `core` has TensorFlow's own kernels for any
    GPU or any device. `shared` is the sentence on operations that only have the latter.
    """

    where: str
    title: str
    own: KernelTable
    device: str
    core: KernelTable
    caveats: tuple[str, ...] = (FORECAST,)
    noun: str = say("kernel")
    shared: str = say("can use one of TensorFlow's own kernels")

    @property
    def is_gpu(self) -> bool:
        """True if TensorFlow lists the device as a GPU, which its placer knows."""
        return self.device == "GPU"


@dataclass(frozen=True)
class Placement:
    """One operation and where it may run.

    `where` is the target's name (metal, metal-community, cuda, mlcompute) if the target has a kernel of its
    own, `core` if TensorFlow has one for any GPU, `default` if it has one for any device, else `cpu`. It is
    `beside` if there is a kernel, but the operation would still run on the CPU, colocated with another one.
    """

    node: str
    function: str
    operation: str
    types: tuple[str, ...]
    where: str
    reason: Sentence
    host_memory: tuple[str, ...] = field(default=())

    @property
    def on_device(self) -> bool:
        return self.where not in ("cpu", "beside")


#: All targets. The last one is for PyTorch, which `graphs/mps/` plans.
TARGETS = ("metal", "metal-community", "cuda", "mlcompute", "mps")


def target(name: str) -> PlanTarget:
    """Return the target of this name, with its tables. Raises PlanError for an unknown name."""
    caveats: tuple[str, ...] = (FORECAST, _STAND_IN)
    if name == "metal":
        return PlanTarget(name, "Metal", kernels.load("metal"), "GPU", kernels.load("core"), caveats)
    if name == "metal-community":
        caveats = (*caveats, _COMMUNITYS)
        return PlanTarget(name, "Metal", kernels.load(name), "GPU", kernels.load("core"), caveats)
    if name == "cuda":
        table = kernels.load("cuda")
        return PlanTarget(name, "CUDA", table, "GPU", table)
    if name == "mlcompute":
        caveats = (ELIGIBILITY, _LAYERS)
        table = kernels.load("mlcompute")
        return PlanTarget(name, "ML Compute", table, "MLC", table, caveats, say("layer"), _TENSORS)
    near = "".join(f"{one} " for one in nearest(name, TARGETS))
    raise PlanError(
        f"There is no target {name!r}. {near}Choose metal, metal-community, cuda, mlcompute or mps."
    )


def place(node: Node, function: str, to: PlanTarget) -> Placement:
    """Place a node by the target's own kernel, one for any GPU, one for any device, or on the CPU."""
    where, reason, kernel = _decide(node, to)
    return Placement(
        node.name,
        function,
        node.operation,
        types_of(node),
        where,
        reason,
        tuple(sorted(kernel.host)) if kernel else (),
    )


def _decide(node: Node, to: PlanTarget) -> tuple[str, Sentence, RegisteredKernel | None]:
    if "CPU:" in node.requested_device.upper():
        return "cpu", say("{operation}: the code requests the CPU", operation=node.operation), None
    kernel = to.own.find(node, to.device)
    if kernel is not None:
        return to.where, _own(kernel, to), kernel
    if kernel := to.core.find(node, "GPU"):
        return "core", say("TensorFlow's own kernel for any GPU"), kernel
    if kernel := to.core.find(node, "DEFAULT"):
        reason = _ANY_DEVICE
        if kernel.layer:
            reason = say("{layer}: holds or passes on a tensor", layer=kernel.layer)
        return "default", reason, kernel
    return "cpu", _why_not(node, to), None


def _own(kernel: RegisteredKernel, to: PlanTarget) -> Sentence:
    sentence = say("{target} {noun}", target=to.title, noun=to.noun)
    if kernel.layer:
        sentence = say("{target} {noun} {layer}", target=to.title, noun=to.noun, layer=kernel.layer)
    if not kernel.min_macos:
        return sentence
    return say("{kernel}, macOS {version} or later", kernel=sentence, version=str(kernel.min_macos))


def _why_not(node: Node, to: PlanTarget) -> Sentence:
    own = to.own.of(node.operation, to.device)
    if not own:
        others = [one for device in ("GPU", "DEFAULT") for one in to.core.of(node.operation, device)]
        if not others:
            return say(
                "{operation}: no {target} {noun} in {table}",
                operation=node.operation,
                target=to.title,
                noun=to.noun,
                table=to.own.title,
            )
        operation, has = _unsupported_types(node, others)
        return say(
            "{operation}: no {target} {noun}; TensorFlow's own kernel {types}",
            operation=operation,
            target=to.title,
            noun=to.noun,
            types=has,
        )
    for kernel in own:
        rank = None if kernel.misfits(node) else kernel.wrong_rank(node)
        if rank is not None:
            return say(
                "{operation} {rank}-D: {target}'s kernel takes only {ranks}-D tensors and fails there, "
                "unless the code requests the CPU",
                operation=node.operation,
                rank=str(rank),
                target=to.title,
                ranks="- and ".join(map(str, sorted(set().union(*kernel.ranks.values())))),
            )
    operation, has = _unsupported_types(node, own)
    return say("{operation}: {target} {types}", operation=operation, target=to.title, types=has)


def _unsupported_types(node: Node, found: Iterable[RegisteredKernel]) -> tuple[str, Sentence]:
    """Return the operation with the types that are not supported, and a sentence on those that are."""
    found = list(found)
    for name in sorted({name for kernel in found for name in kernel.types}):
        allowed: set[str] = set().union(*(kernel.types.get(name, frozenset()) for kernel in found))
        free = any(name not in kernel.types for kernel in found)
        values = node.attributes.get(name, ())
        if not free and not allowed.issuperset(values):
            wrong = ", ".join(dict.fromkeys(value for value in values if value not in allowed))
            if len(allowed) > 8:
                return f"{node.operation} {wrong}", say("supports only other types")
            few = ", ".join(sorted(allowed))
            return f"{node.operation} {wrong}", say("supports only {types}", types=few)
    types = " ".join(types_of(node))
    return f"{node.operation} {types}", say("does not support this combination of types")


def types_of(node: Node) -> tuple[str, ...]:
    """Return the types of an operation, such as `T=float32`."""
    return tuple(
        f"{name}={','.join(values)}"
        for name, values in node.attributes.items()
        if values and not name.startswith("_")
    )
