"""The floating-point operations of convolutions in TensorFlow's graphs.

A profile contains the shapes of their inputs. The graphs that TensorFlow keeps contain strides and padding,
by the names of operations, which do not change (seen on 2.19.1). A fused operation has the name of its last
part, so it is identified as the only convolution in the same scope; each layer of Keras has one. A
convolution that is not identified with certainty is not counted.
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

#: Prefixes and suffixes that oneDNN and fusing add to a kind, as in _MklNativeFusedConv2D.
_MADE_OF = re.compile(r"^_(?:Mkl)?(?:Native)?(?:Fused)?|WithBias$")
#: Prefixes that TensorFlow adds to the names of a called graph, and of gradients.
_CALLED = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+")
_GRADIENT = "gradient_tape/"


def plain(kind: str) -> str:
    """Return the kind of an operation before it was fused or replaced by oneDNN's."""
    return _MADE_OF.sub("", kind)


class Moves(NamedTuple):
    """Strides and dilations of a filter over height and width; `same` if the edges are padded."""

    strides: tuple[int, int]
    dilations: tuple[int, int]
    same: bool


def in_graphs(context: Any) -> dict[str, Moves | None]:
    """Return the convolutions of all graphs of a context by name; None if graphs differ or lack values."""
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
    strides, dilations = (tuple(attributes[name].list.i)[at] for name in ("strides", "dilations"))
    return Moves(strides, dilations or (1, 1), padding == b"SAME")


class Convolutions:
    """The convolutions of a profile; `ran` are path, kind and input sizes of its operations."""

    def __init__(
        self, graphs: Mapping[str, Moves | None], ran: Iterable[tuple[str, str, Sequence[Shape]]]
    ) -> None:
        self._graphs = graphs
        self._by_scope: dict[str, list[str]] = {}
        for name in graphs:
            self._by_scope.setdefault(name.rpartition("/")[0], []).append(name)
        self._filters: dict[str, set[tuple[int, ...]]] = {}
        for path, kind, sizes in ran:
            of_graph = self._name(path, kind)
            if plain(kind) in _FORWARD and of_graph is not None and len(sizes) > 1:
                self._filters.setdefault(of_graph, set()).add(tuple(sizes[1]))

    def flops(self, path: str, kind: str, sizes: Sequence[Shape]) -> float | None:
        """Return two operations per multiplication, including those with padding; None if not known."""
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
        """Return the name of an operation in the graphs; None if it is not certain."""
        path = _CALLED.sub("", path)
        if path in self._graphs:
            return path
        candidates = self._by_scope.get(path.rpartition("/")[0], []) if "Fused" in kind else []
        return candidates[0] if len(candidates) == 1 else None


def _flops(kind: str, outputs: float, filter_: Shape) -> float | None:
    if len(filter_) != 4:
        return None
    height, width, channels, _ = filter_
    return 2.0 * outputs * height * width * (1 if kind.startswith("Depthwise") else channels)


def _outputs(kind: str, image: Shape, filter_: Shape, moves: Moves) -> int | None:
    """Return the number of output values; None if it is not certain which dimension holds the channels."""
    if len(image) != 4 or len(filter_) != 4:
        return None
    channels, per_channel = filter_[2:]
    last, first = image[3] == channels, image[1] == channels
    if last == first:  # a grouped convolution, or an image with as many rows as channels
        return None
    sides = image[1:3] if last else image[2:4]
    positions = list(_positions(sides, filter_, moves))
    outputs = channels * per_channel if kind.startswith("Depthwise") else per_channel
    return image[0] * math.prod(positions) * outputs


def _positions(sides: Shape, filter_: Shape, moves: Moves) -> Iterator[int]:
    for side, length, stride, dilation in zip(sides, filter_, moves.strides, moves.dilations, strict=False):
        covered = side if moves.same else side - (length - 1) * dilation
        yield max(0, -(-covered // stride))
