"""An ML Compute graph as a table and as a drawing, and the history of one tensor."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor
from jupyter_mlgpu.graphs.planning.layout import Box
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.text import aligned
from jupyter_mlgpu.show.planning.downwards import draw_down

if TYPE_CHECKING:
    from jupyter_mlgpu.graphs.mlcompute.structure import Graph, Step


def summary(graph: Graph) -> str:
    """Return the layers as a table: inputs, results, weights, and time in a profiled run."""
    profiled = any(step.seconds is not None for step in graph.steps)
    rows = [["layer", "takes", "makes", "weights", "time, by itself"]]
    for step in graph.steps:
        sources, made = ", ".join(one.name for one in step.sources), ", ".join(map(str, step.results))
        rows.append([step.layer.title, sources, made, f"{_count(step.layer.parameters):,}", _seconds(step)])
    lines = aligned(rows if profiled else [row[:-1] for row in rows])
    # Weights that layers share are counted once.
    total = _count({one for step in graph.steps for one in step.layer.parameters})
    ends = [f"{word}: {value}" for word, value in graph.described().items()]
    return "\n".join([*lines, f"{len(graph.steps)} layers, {total:,} weights", *ends])


def _count(parameters: Iterable[Tensor]) -> int:
    return sum(math.prod(one.shape) for one in parameters)


def _seconds(step: Step) -> str:
    return "not measured" if step.seconds is None else f"{step.seconds * 1e6:,.0f} µs"


def explain(tensor: Tensor) -> str:
    """Return how a tensor was computed: its layer, and indented below it the layer's inputs.

    Values are those of the last execution.
    """
    return "\n".join(_story(tensor, 0, set()))


def _story(tensor: Tensor, depth: int, told: set[Tensor]) -> Iterator[str]:
    head = f"{'  ' * depth}{tensor} {tensor.data_type}"
    values = f" = {tensor.short()}" if tensor.has_values else ", no values yet"
    if tensor.step is None:
        kind = "has values of its own" if tensor.own else "is an input"
        yield f"{head} {kind}{values}"
        return
    layer = tensor.step.layer
    sources = ", ".join(one.name for one in tensor.step.sources)
    yield f"{head}{values}, by {layer.title} of {sources}{_details(tensor.step)}"
    if tensor in told:
        yield f"{'  ' * (depth + 1)}... as told above"
        return
    told.add(tensor)
    for source in dict.fromkeys((*tensor.step.sources, *layer.parameters, *layer.statistics)):
        yield from _story(source, depth + 1, told)


def picture(graph: Graph) -> Drawing:
    """Return a drawing from top to bottom: inputs grey, layers blue, layers with weights green."""
    boxes: dict[str, Box] = {}
    before: dict[str, list[str]] = {}
    # The name of a tensor's box: an input's own name, or that of the layer's first result.
    names = {result: step.results[0].name for step in graph.steps for result in step.results}
    for tensor in (one for step in graph.steps for one in step.sources if one not in names):
        about = f"{list(tensor.shape)} {tensor.data_type}"
        boxes[tensor.name] = Box(tensor.name, tensor.name, about, "given", tensor.name)
        before[tensor.name] = []
    for step in graph.steps:
        name, kind = step.results[0].name, "own" if step.layer.parameters else "shared"
        made = ", ".join([*map(str, step.results), *([_seconds(step)] if step.seconds is not None else [])])
        hover = f"{step.layer.title} of {', '.join(map(str, step.sources))}{_details(step)}"
        boxes[name] = Box(name, step.layer.title, made, kind, hover)
        before[name] = [names.get(one, one.name) for one in step.sources]
    about = "; ".join(f"{word}: {value}" for word, value in graph.described().items()) or "not compiled"
    words = f"A graph of {len(graph.steps)} layers, {about}. Green boxes have weights."
    return draw_down(words, list(boxes.values()), before)


def _details(step: Step) -> str:
    given = ", ".join(f"{name}={value}" for name, value in step.layer.details().items())
    return f" ({given})" if given else ""
