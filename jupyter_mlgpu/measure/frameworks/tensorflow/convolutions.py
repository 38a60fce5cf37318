"""What convolutions in TensorFlow's graphs have to do.

A profile tells the shapes of their inputs, and the graphs that TensorFlow keeps tell strides and padding, by
the names of operations, which stay as they were made (seen on 2.19.1). A fused operation has the name of its
last part, so it is the one convolution beside that, as each layer of Keras has one. What is not told for
certain is not counted.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

Shape = Sequence[int]

_FORWARD = frozenset(("Conv2D", "DepthwiseConv2dNative"))
_OF_INPUT = frozenset(("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"))
_OF_FILTER = frozenset(("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"))
KINDS = _FORWARD | _OF_INPUT | _OF_FILTER

#: What oneDNN and fusing make of a kind, as in _MklNativeFusedConv2D.
_MADE_OF = re.compile(r"^_(?:Mkl)?(?:Native)?(?:Fused)?|WithBias$")
#: What TensorFlow puts before the names of a graph that another one calls, and of gradients.
_CALLED = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")
_GRADIENT = "gradient_tape/"


def plain(kind: str) -> str:
    """The kind of operation that one was before it was fused, or given to oneDNN."""
    return _MADE_OF.sub("", kind)


class Moves(NamedTuple):
    """How far a filter moves, and is spread, over height and width; `same`: with padding at the edges."""

    strides: tuple[int, int]
    spread: tuple[int, int]
    same: bool


def in_graphs(context: Any) -> dict[str, Moves | None]:
    """The convolutions of all graphs of a context, by name; None where graphs differ, or none tells."""
    found: dict[str, Moves | None] = {}
    for name in context.list_function_names():
        for node in context.get_function_def(name).node_def:
            if node.op in _FORWARD:
                moves = _moves(node.attr)
                found[node.name] = moves if found.get(node.name, moves) == moves else None
    return found


def _moves(attributes: Any) -> Moves | None:
    padding = attributes["padding"].s
    if padding not in (b"SAME", b"VALID"):
        return None
    at = slice(2, 4) if attributes["data_format"].s == b"NCHW" else slice(1, 3)
    strides, spread = (tuple(attributes[name].list.i)[at] for name in ("strides", "dilations"))
    return Moves(strides, spread or (1, 1), padding == b"SAME")


class Convolutions:
    """The convolutions of a profile: `ran` are path, kind and input sizes of the operations in it."""

    def __init__(
        self, graphs: Mapping[str, Moves | None], ran: Iterable[tuple[str, str, Sequence[Shape]]]
    ) -> None:
        self._graphs = graphs
        self._beside: dict[str, list[str]] = {}
        for name in graphs:
            self._beside.setdefault(name.rpartition("/")[0], []).append(name)
        self._filters: dict[str, set[tuple[int, ...]]] = {}
        for path, kind, sizes in ran:
            of_graph = self._name(path, kind)
            if plain(kind) in _FORWARD and of_graph is not None and len(sizes) > 1:
                self._filters.setdefault(of_graph, set()).add(tuple(sizes[1]))

    def flops(self, path: str, kind: str, sizes: Sequence[Shape]) -> float | None:
        """Two operations for each multiplication, those with padding included; None where not known."""
        of_graph, kind = self._name(path, kind), plain(kind)
        if kind in _FORWARD and len(sizes) > 1:
            moves = self._graphs.get(of_graph or "")
            outputs = None if moves is None else _outputs(kind, sizes[0], sizes[1], moves)
            return None if outputs is None else _flops(kind, outputs, sizes[1])
        if kind in _OF_INPUT and len(sizes) > 2:
            return _flops(kind, math.prod(sizes[2]), sizes[1])
        if kind in _OF_FILTER and len(sizes) > 2:
            forward = _CALLED.sub("", path).removeprefix(_GRADIENT).rpartition("/")[0]
            filters = self._filters.get(forward, set())
            return _flops(kind, math.prod(sizes[2]), next(iter(filters))) if len(filters) == 1 else None
        return None

    def _name(self, path: str, kind: str) -> str | None:
        """The convolution in the graphs that an operation is."""
        path = _CALLED.sub("", path)
        if path in self._graphs:
            return path
        beside = self._beside.get(path.rpartition("/")[0], []) if "Fused" in kind else []
        return beside[0] if len(beside) == 1 else None


def _flops(kind: str, outputs: float, filter_: Shape) -> float | None:
    if len(filter_) != 4:
        return None
    height, width, channels, _ = filter_
    return 2.0 * outputs * height * width * (1 if kind.startswith("Depthwise") else channels)


def _outputs(kind: str, given: Shape, filter_: Shape, moves: Moves) -> int | None:
    """How many numbers it gives back; None where the place of the channels is not certain."""
    if len(given) != 4 or len(filter_) != 4:
        return None
    channels, made = filter_[2:]
    last, first = given[3] == channels, given[1] == channels
    if last == first:  # of groups, or an image that is as high as it has channels
        return None
    sides = given[1:3] if last else given[2:4]
    over = list(_sides(sides, filter_, moves))
    return given[0] * math.prod(over) * (channels * made if kind.startswith("Depthwise") else made)


def _sides(sides: Shape, filter_: Shape, moves: Moves) -> Iterator[int]:
    for side, length, stride, spread in zip(sides, filter_, moves.strides, moves.spread, strict=False):
        covered = side if moves.same else side - (length - 1) * spread
        yield max(0, -(-covered // stride))
