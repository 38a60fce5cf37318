"""A graph as a table, as a drawing, and as the story of one tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jupyter_mlgpu.mlcompute.tensors import Tensor
from jupyter_mlgpu.planning.downwards import draw_down
from jupyter_mlgpu.planning.layout import Box
from jupyter_mlgpu.planning.svg import Picture

if TYPE_CHECKING:
    from jupyter_mlgpu.mlcompute.graph import Graph, Step


def summary(graph: Graph) -> str:
    """Each layer: what it takes and makes, how many weights it has, and its time in a profiled run."""
    profiled = any(step.seconds is not None for step in graph.steps)
    rows = [("layer", "takes", "makes", "weights", *["time, by itself"] * profiled)]
    for step in graph.steps:
        weights = f"{sum(math.prod(one.shape) for one in step.layer.parameters):,}"
        made = ", ".join(map(str, step.results))
        row = (step.layer.title, ", ".join(one.name for one in step.sources), made, weights)
        rows.append((*row, *[_seconds(step)] * profiled))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    total = sum(math.prod(one.shape) for one in _parameters(graph))
    ends = [f"{len(graph.steps)} layers, {total:,} weights"]
    return "\n".join([*lines, *ends, *(f"{word}: {value}" for word, value in graph.described().items())])


def _parameters(graph: Graph) -> list[Tensor]:
    """Each once, though layers may share it."""
    return list(dict.fromkeys(one for step in graph.steps for one in step.layer.parameters))


def _seconds(step: Step) -> str:
    return "not measured" if step.seconds is None else f"{step.seconds * 1e6:,.0f} µs"


def explain(tensor: Tensor) -> str:
    """How a tensor came to be: its layer, and under it, further to the right, what that was made of.

    With the values of the last execution.
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
    for source in dict.fromkeys((*tensor.step.sources, *layer.parameters, *layer.kept)):
        yield from _story(source, depth + 1, told)


def picture(graph: Graph) -> Picture:
    """Boxes from top to bottom: inputs grey, layers blue, layers with weights green."""
    makers = {result: step for step in graph.steps for result in step.results}
    boxes, before = [], dict[str, list[str]]()
    for tensor in dict.fromkeys(one for step in graph.steps for one in step.sources if one not in makers):
        boxes.append(
            Box(tensor.name, tensor.name, f"{list(tensor.shape)} {tensor.data_type}", "given", tensor.name)
        )
        before[tensor.name] = []
    for place, step in enumerate(graph.steps):
        made, kind = ", ".join(map(str, step.results)), "own" if step.layer.parameters else "plain"
        time = "" if step.seconds is None else f", {_seconds(step)}"
        hover = f"{step.layer.title} of {', '.join(map(str, step.sources))}{_details(step)}"
        boxes.append(Box(f"step {place}", step.layer.title, made + time, kind, hover))
        sources = (makers.get(one, one) for one in step.sources)
        before[f"step {place}"] = [
            one.name if isinstance(one, Tensor) else f"step {graph.steps.index(one)}" for one in sources
        ]
    about = "; ".join(f"{word}: {value}" for word, value in graph.described().items()) or "not compiled"
    return draw_down(
        f"A graph of {len(graph.steps)} layers, {about}. Green boxes have weights.", boxes, before
    )


def _details(step: Step) -> str:
    given = ", ".join(f"{name}={value}" for name, value in step.layer.details().items())
    return f" ({given})" if given else ""
