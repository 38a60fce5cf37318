"""A graph in plain data, as the plan reads it; no framework is needed to make one.

A `FunctionGraph` is a function with the functions it calls, each a `Body`. Types are written as TensorFlow's
Python names them (`float32`, `resource`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class GivenTensor:
    """One tensor that an operation gives: the argument's name in its definition, type, size and dimensions.

    `rank` is the number of its dimensions, None where the graph does not tell it.
    """

    argument: str
    type: str
    bytes: int | None = None
    why_missing: str = ""
    rank: int | None = None


@dataclass(frozen=True)
class Operand:
    """One tensor that an operation takes: whose result, the how manieth, and its own name for it."""

    node: str
    output: int
    argument: str


@dataclass(frozen=True)
class Node:
    """One operation. `attributes` holds what kernels may ask for: types above all, each as words.

    `beside` names operations of the same function that it is asked to stand with; `calls` the functions that
    it calls, each with the attribute that says so.
    """

    name: str
    operation: str
    attributes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    operands: tuple[Operand, ...] = ()
    after: tuple[str, ...] = ()
    results: tuple[GivenTensor, ...] = ()
    asked_device: str = ""
    beside: tuple[str, ...] = ()
    calls: tuple[tuple[str, str], ...] = ()

    @property
    def sources(self) -> tuple[str, ...]:
        """The nodes that have to run before this one, each once."""
        return tuple(dict.fromkeys([*(one.node for one in self.operands), *self.after]))


@dataclass(frozen=True)
class Body:
    """One function: what it is given, its operations, what it gives back."""

    name: str
    nodes: tuple[Node, ...]
    arguments: Mapping[str, GivenTensor] = field(default_factory=dict)
    returns: tuple[Operand, ...] = ()


@dataclass(frozen=True)
class FunctionGraph:
    """A function and all functions that it can reach, each once."""

    bodies: tuple[Body, ...]
