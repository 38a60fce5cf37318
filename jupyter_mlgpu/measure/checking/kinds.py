"""Chooses by tags, schema and name how an ATen operation is compared with its reference."""

from __future__ import annotations

import enum
import functools
import tomllib
from pathlib import Path
from typing import Any


class ComparisonKind(enum.Enum):
    """The ways to compare the result of an operation."""

    #: Gives no values, such as `empty`.
    VALUELESS = enum.auto()
    #: Draws random numbers: what it gave is taken as given.
    RANDOM = enum.auto()
    #: Its result is not unique, or its values are stored in a way of the device's own.
    NOT_COMPARABLE = enum.auto()
    #: Moves, selects or compares values: nothing is rounded.
    EXACT = enum.auto()
    #: Selects values and returns their places, of which several may be right.
    PLACES = enum.auto()
    #: A sum of products, linear in each of its tensors.
    LINEAR = enum.auto()
    #: A product of many factors.
    PRODUCT = enum.auto()
    #: Each element of the result depends on one element of each tensor.
    ELEMENTWISE = enum.auto()
    #: Distances, which some kernels compute as a difference of products.
    DISTANCE = enum.auto()
    #: Scaled dot-product attention, whose kernels have results of their own beside the first.
    ATTENTION = enum.auto()
    #: Everything else, such as a softmax or a normalisation.
    GENERAL = enum.auto()


def base_name(operation: Any) -> str:
    """Return an operation's name without namespace, overload, and the underscore of one in place."""
    name: str = operation._schema.name.partition("::")[2]
    return name if name.endswith("__") else name.removesuffix("_")


def full_name(operation: Any) -> str:
    """Return an operation's name as `aten.cumsum`, or `aten.add_` in place."""
    return str(operation._schema.name.replace("::", "."))


@functools.cache
def _table() -> dict[str, dict[str, str]]:
    return tomllib.loads(Path(__file__).with_name("operations.toml").read_text(encoding="utf-8"))


@functools.cache
def names_of(mark: str) -> frozenset[str]:
    """Return the names of the operations with a mark, such as `arithmetic` or `products`."""
    return frozenset(_table()["marks"][mark].split())


@functools.cache
def _by_name() -> dict[str, ComparisonKind]:
    """Return the kinds of the operations that `operations.toml` names."""
    return {
        name: ComparisonKind[kind.upper()]
        for kind, names in _table()["kinds"].items()
        for name in names.split()
    }


@functools.cache
def kind_of(operation: Any) -> ComparisonKind:
    """Return how the result of an operation is compared."""
    import torch

    name = base_name(operation)
    namespace = operation._schema.name.partition("::")[0]
    if namespace != "aten":  # the profiler's mark parts of a run, as optimizers do
        return ComparisonKind.VALUELESS if namespace == "profiler" else ComparisonKind.NOT_COMPARABLE
    named = _by_name().get(name)
    # Attention is tagged as random, whatever its dropout.
    if torch.Tag.nondeterministic_seeded in operation.tags and named is not ComparisonKind.ATTENTION:
        return ComparisonKind.RANDOM
    if named is not None:
        return named
    if operation.is_view:
        return ComparisonKind.EXACT
    if torch.Tag.pointwise in operation.tags:
        return ComparisonKind.ELEMENTWISE
    if name.startswith("_foreach_") and name != "_foreach_norm":
        return ComparisonKind.ELEMENTWISE
    return ComparisonKind.GENERAL
