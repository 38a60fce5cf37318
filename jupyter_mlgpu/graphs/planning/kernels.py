"""Tables of kernels: the operations, types and numbers of dimensions for which a device has code."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources

from jupyter_mlgpu.graphs.planning.graph import Node
from jupyter_mlgpu.record import decoding

#: The number of dimensions of a tensor, by the data format of the operation that returns it.
_RANKS = {"NHWC": 4, "NCHW": 4, "NDHWC": 5, "NCDHW": 5}


@dataclass(frozen=True)
class RegisteredKernel:
    """Kernels of one operation, one for every combination of the values of `types`.

    An attribute that is not in `types` may have any value. `host` names the arguments that stay in host
    memory even though the kernel belongs to a device. `ranks` has the allowed numbers of dimensions of a
    result, by its name: TensorFlow's placer does not check them, so another number fails at run time.
    """

    device: str
    types: Mapping[str, frozenset[str]]
    registrations: int
    host: frozenset[str] = frozenset()
    priority: int = 0
    label: str = ""
    min_macos: int | None = None
    layer: str = ""
    ranks: Mapping[str, frozenset[int]] = field(default_factory=dict)

    def fits(self, node: Node) -> bool:
        """Return True if TensorFlow would find this kernel for the operation, and it would work."""
        label = "".join(node.attributes.get("_kernel", ()))
        return self.label == label and not self.misfits(node) and self.wrong_rank(node) is None

    def wrong_rank(self, node: Node) -> int | None:
        """Return the number of dimensions at which this kernel fails, None if it is right or not known."""
        by_format = _RANKS.get("".join(node.attributes.get("data_format", ())))
        given = {one.argument: one.rank for one in node.results}
        for name, allowed in self.ranks.items():
            rank = given.get(name)
            rank = by_format if rank is None else rank
            if rank is not None and rank not in allowed:
                return rank
        return None

    def misfits(self, node: Node) -> list[str]:
        """Return the attributes of the operation whose values this kernel does not support."""
        return [
            name
            for name, allowed in self.types.items()
            if name not in node.attributes or not allowed.issuperset(node.attributes[name])
        ]


@dataclass(frozen=True)
class KernelTable:
    """All kernels that one build of a framework or plug-in registers, with the source of the table."""

    name: str
    version: str
    origin: str
    kernels: Mapping[str, tuple[RegisteredKernel, ...]]

    @property
    def title(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def registrations(self) -> int:
        return sum(kernel.registrations for kernels in self.kernels.values() for kernel in kernels)

    def of(self, operation: str, device: str) -> Sequence[RegisteredKernel]:
        """Return the kernels of an operation for a device, the preferred ones first."""
        found = [kernel for kernel in self.kernels.get(operation, ()) if kernel.device == device]
        return sorted(found, key=lambda kernel: -kernel.priority)

    def find(self, node: Node, device: str) -> RegisteredKernel | None:
        """Return the kernel for an operation with its types on a device, or None."""
        return next((kernel for kernel in self.of(node.operation, device) if kernel.fits(node)), None)


@functools.cache
def load(name: str) -> KernelTable:
    """Return one of the packaged tables: metal, metal-community, core, cuda, mlcompute."""
    text = (
        resources.files("jupyter_mlgpu.graphs.planning").joinpath("tables", f"{name}.json").read_text("utf-8")
    )
    return from_json(json.loads(text))


def from_json(data: object) -> KernelTable:
    """Return a table from the data that `tests/support/kernel_table.py` writes."""
    return decoding.decode(KernelTable, data, "the table of kernels")
