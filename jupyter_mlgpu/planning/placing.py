"""Where one operation may run by itself: the rule by which the tables combine (docs/adr/0008)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from jupyter_mlgpu.errors import PlanError
from jupyter_mlgpu.planning import kernels
from jupyter_mlgpu.planning.graph import Node
from jupyter_mlgpu.planning.kernels import Kernel, KernelTable

FORECAST = (
    "Operations are put where TensorFlow's placer would put them before graph optimisers run. Those may fold "
    "and fuse, the Metal plug-in's own among them, and decide otherwise. Nothing was run."
)
ELIGIBILITY = (
    "This is eligibility, not placement: it says which operations have a kernel. Colocation, graph "
    "optimisers (the Metal plug-in has its own) and TensorFlow's placer may still decide otherwise."
)
_STAND_IN = (
    "TensorFlow's own kernels were read from tensorflow-cpu 2.21.0 for Linux, standing in for a Mac's build."
)
_COMMUNITYS = (
    "This is the community's plug-in, for TensorFlow 2.21 alone, and not Apple's tensorflow-metal. By its "
    "own account that TensorFlow does not let it reach variables: variables are updated by TensorFlow's own "
    "kernels, on the CPU, in the memory that both share, and the plug-in waits for the GPU after each kernel."
)
_ANY_DEVICE = "TensorFlow's own kernel for any device"
_TENSORS = "only hold or pass on a tensor"
_LAYERS = (
    "Which operations Apple's TensorFlow fork really gave to ML Compute is not known, nor for which types: "
    "an operation counts where ML Compute names a layer of its kind and its types at all. Gradients and "
    "optimisers, which ML Compute makes itself in a training graph, are not counted for it."
)


@dataclass(frozen=True)
class Target:
    """A device to plan for. `own` holds its kernels, which stand under `device` in that table; `core`
    those of TensorFlow itself that serve any GPU or any device. `shared` says what the latter have."""

    where: str
    title: str
    own: KernelTable
    device: str
    core: KernelTable
    caveats: tuple[str, ...] = (FORECAST,)
    noun: str = "kernel"
    shared: str = "a kernel of TensorFlow's own that serves it"

    @property
    def is_gpu(self) -> bool:
        """Whether TensorFlow lists the device as a GPU, and its placer knows it."""
        return self.device == "GPU"


@dataclass(frozen=True)
class Placement:
    """One operation and where it may run.

    `where` is the target's name (metal, metal-community, cuda, mlcompute) when the target has a kernel of its
    own, `core` when TensorFlow's kernels for any GPU serve, `default` when those for any device do, else
    `cpu`; `beside` when it has a kernel, and would still run on the CPU, beside what it belongs to.
    """

    node: str
    function: str
    operation: str
    types: tuple[str, ...]
    where: str
    reason: str
    host_memory: tuple[str, ...] = field(default=())

    @property
    def on_device(self) -> bool:
        return self.where not in ("cpu", "beside")


def target(name: str) -> Target:
    """The target of this name; its tables are read now."""
    caveats: tuple[str, ...] = (FORECAST, _STAND_IN)
    if name == "metal":
        return Target(name, "Metal", kernels.load("metal"), "GPU", kernels.load("core"), caveats)
    if name == "metal-community":
        caveats = (*caveats, _COMMUNITYS)
        return Target(name, "Metal", kernels.load(name), "GPU", kernels.load("core"), caveats)
    if name == "cuda":
        table = kernels.load("cuda")
        return Target(name, "CUDA", table, "GPU", table)
    if name == "mlcompute":
        caveats = (ELIGIBILITY, _LAYERS)
        table = kernels.load("mlcompute")
        return Target(name, "ML Compute", table, "MLC", table, caveats, "layer", _TENSORS)
    raise PlanError(f"There is no target {name!r}. Choose metal, metal-community, cuda or mlcompute.")


def place(node: Node, function: str, to: Target) -> Placement:
    """The target's own kernel, else the core one for a GPU, else the one for any device, else the CPU."""
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


def _decide(node: Node, to: Target) -> tuple[str, str, Kernel | None]:
    if "CPU:" in node.asked_device.upper():
        return "cpu", f"{node.operation}: the code asks for the CPU", None
    kernel = to.own.find(node, to.device)
    if kernel is not None:
        release = f", from macOS {kernel.min_macos} on" if kernel.min_macos else ""
        return to.where, f"{to.title} {to.noun} {kernel.layer}".rstrip() + release, kernel
    if kernel := to.core.find(node, "GPU"):
        return "core", "TensorFlow's own kernel for any GPU", kernel
    if kernel := to.core.find(node, "DEFAULT"):
        held = f"{kernel.layer}: it holds or passes on a tensor" if kernel.layer else _ANY_DEVICE
        return "default", held, kernel
    return "cpu", _why_not(node, to), None


def _why_not(node: Node, to: Target) -> str:
    own = to.own.of(node.operation, to.device)
    if not own:
        others = _core(node, to)
        if not others:
            return f"{node.operation}: no {to.title} {to.noun} in {to.own.title}"
        shown = _shown(node, others)
        return f"{node.operation}{shown[0]}: no {to.title} {to.noun}; TensorFlow's own {shown[1]}"
    shown = _shown(node, own)
    return f"{node.operation}{shown[0]}: {to.title} {shown[1]}"


def _core(node: Node, to: Target) -> list[Kernel]:
    return [kernel for device in ("GPU", "DEFAULT") for kernel in to.core.of(node.operation, device)]


def _shown(node: Node, found: Iterable[Kernel]) -> tuple[str, str]:
    """The types that stand in the way, and what there is instead."""
    found = list(found)
    for name in sorted({name for kernel in found for name in kernel.types}):
        allowed: set[str] = set().union(*(kernel.types.get(name, frozenset()) for kernel in found))
        free = any(name not in kernel.types for kernel in found)
        values = node.attributes.get(name, ())
        if not free and not allowed.issuperset(values):
            wrong = ", ".join(dict.fromkeys(value for value in values if value not in allowed))
            few = f"{', '.join(sorted(allowed))} only" if len(allowed) <= 8 else "other types only"
            return f" {wrong}", f"has {few}"
    return f" {' '.join(types_of(node))}", "has nothing for this combination of types"


def types_of(node: Node) -> tuple[str, ...]:
    """The types of an operation, as `T=float32`."""
    return tuple(
        f"{name}={','.join(values)}"
        for name, values in node.attributes.items()
        if values and not name.startswith("_")
    )
