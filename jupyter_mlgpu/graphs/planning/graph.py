"""A graph in plain data, from which a plan is made; it needs no framework.

A `FunctionGraph` is a function with the functions it calls, each a `Body`. Types have TensorFlow's Python
names (`float32`, `resource`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GivenTensor:
    """A tensor that an operation returns: its name in the operation's definition, type, size and dimensions.

    `rank` is the number of its dimensions, None if the graph does not have it.
    """

    argument: str
    type: str
    bytes: int | None = None
    why_missing: str = ""
    rank: int | None = None


@dataclass(frozen=True)
class Operand:
    """A tensor that an operation takes: its node, the number of the output, and the argument's name."""

    node: str
    output: int
    argument: str


@dataclass(frozen=True)
class Node:
    """One operation. `attributes` holds what kernels depend on, above all types, each as words.

    `colocated_with` names operations of the same function with which it must be colocated; `calls` are the
    functions that it calls, each with the attribute that names it.
    """

    name: str
    operation: str
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    operands: tuple[Operand, ...] = ()
    after: tuple[str, ...] = ()
    results: tuple[GivenTensor, ...] = ()
    requested_device: str = ""
    colocated_with: tuple[str, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The nodes that have to run before this one, each once."""
        return tuple(dict.fromkeys([*(one.node for one in self.operands), *self.after]))


@dataclass(frozen=True)
class Body:
    """One function: its arguments, its operations, and what it returns."""

    name: str
    nodes: tuple[Node, ...]
    arguments: Mapping[str, GivenTensor] = field(default_factory=dict)
    returns: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class FunctionGraph:
    """A function and all functions that it can reach, each once."""

    bodies: tuple[Body, ...]
