"""A graph as a table, as a drawing, and as the story of one tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from jupyter_mlgpu.mlcompute.tensors import Tensor
from jupyter_mlgpu.planning.subgraphs import columns
from jupyter_mlgpu.planning.svg import Picture

if TYPE_CHECKING:
    from jupyter_mlgpu.mlcompute.graph import Graph, Step

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _MARGIN, _HEAD = 210, 46, 18, 26, 16, 52

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.line { text-anchor: start; }
.small { font-size: 10px; fill: #59636e; }
.given { fill: #f6f8fa; stroke: #59636e; }
.layer { fill: #dbeafe; stroke: #3a87c8; }
.learns { fill: #ccebc5; stroke: #2e7d32; }
path { fill: none; stroke: #8c959f; }
"""


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
    """How a tensor came to be: its layer, and under it, further to the right, what that was made of."""
    return "\n".join(_story(tensor, 0, set()))


def _story(tensor: Tensor, depth: int, told: set[Tensor]) -> Iterator[str]:
    head = f"{'  ' * depth}{tensor} {tensor.data_type}"
    values = f" = {_short(tensor)}" if tensor.has_values else ", no values yet"
    if tensor.step is None:
        kind = "has values of its own" if tensor.own else "is an input"
        yield f"{head} {kind}{values}"
        return
    layer = tensor.step.layer
    details = ", ".join(f"{name}={value}" for name, value in layer.details().items())
    sources = ", ".join(one.name for one in tensor.step.sources)
    yield f"{head}{values}, by {layer.title} of {sources}{f' ({details})' if details else ''}"
    if tensor in told:
        yield f"{'  ' * (depth + 1)}... as told above"
        return
    told.add(tensor)
    for source in dict.fromkeys((*tensor.step.sources, *layer.parameters, *layer.kept)):
        yield from _story(source, depth + 1, told)


def _short(tensor: Tensor) -> str:
    values = tensor.numpy().reshape(-1).astype(np.float64)
    shown = " ".join(f"{value:g}" for value in values[:6])
    return shown if len(values) <= 6 else f"{shown} ... (mean {values.mean():g})"


def picture(graph: Graph) -> Picture:
    """Boxes from top to bottom: inputs grey, layers blue, layers with weights green; arrows are tensors."""
    makers = {result: step for step in graph.steps for result in step.results}
    given = list(dict.fromkeys(one for step in graph.steps for one in step.sources if one not in makers))
    names = {step: f"step {place}" for place, step in enumerate(graph.steps)}
    before: dict[str, list[str]] = {tensor.name: [] for tensor in given} | {
        names[step]: [names[makers[one]] if one in makers else one.name for one in step.sources]
        for step in graph.steps
    }
    rows = columns(list(before), before.__getitem__)
    for tensor in given:  # an input stands just above the first layer that takes it
        takers = [rows[name] for name, sources in before.items() if tensor.name in sources]
        rows[tensor.name] = min(takers) - 1
    across: dict[int, int] = {}
    places: dict[str, tuple[int, int]] = {}
    for name in before:
        row = rows[name]
        x = _MARGIN + across.get(row, 0) * (_WIDTH + _ACROSS)
        places[name] = (x, _HEAD + row * (_HEIGHT + _DOWN))
        across[row] = across.get(row, 0) + 1
    width = max(560, _MARGIN * 2 + max(across.values(), default=1) * (_WIDTH + _ACROSS) - _ACROSS)
    height = _HEAD + (max(rows.values(), default=0) + 1) * (_HEIGHT + _DOWN)
    about = "; ".join(f"{word}: {value}" for word, value in graph.described().items()) or "not compiled"
    words = f"A graph of {len(graph.steps)} layers, {about}. Green boxes have weights."
    boxes = [
        _box(places[one.name], one.name, f"{list(one.shape)} {one.data_type}", "given", one.name)
        for one in given
    ]
    for step in graph.steps:
        made = ", ".join(map(str, step.results))
        time = "" if step.seconds is None else f", {_seconds(step)}"
        details = ", ".join(f"{name}={value}" for name, value in step.layer.details().items())
        hover = (
            f"{step.layer.title} of {', '.join(map(str, step.sources))}{f': {details}' if details else ''}"
        )
        kind = "learns" if step.layer.parameters else "layer"
        boxes.append(_box(places[names[step]], step.layer.title, made + time, kind, hover))
    arrows = [_arrow(places[start], places[end]) for end, starts in before.items() for start in starts]
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f"<title>{escape(words)}</title><style>{_STYLE}</style>"
        f'<rect width="{width}" height="{height}" rx="6" style="fill:#ffffff;stroke:#d1d9e0"/>'
        f'<text class="line" x="{_MARGIN}" y="22">{escape(words)}</text>'
        f"{''.join(arrows)}{''.join(boxes)}</svg>"
    )
    return Picture(words, svg)


def _box(place: tuple[int, int], title: str, subtitle: str, kind: str, hover: str) -> str:
    x, y = place
    middle = x + _WIDTH // 2
    return (
        f"<g><title>{escape(hover)}</title>"
        f'<rect class="{kind}" x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>'
        f'<text x="{middle}" y="{y + 19}">{escape(_cut(title, 28))}</text>'
        f'<text class="small" x="{middle}" y="{y + 35}">{escape(_cut(subtitle, 38))}</text></g>'
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y, to_x, to_y = start[0] + _WIDTH // 2, start[1] + _HEIGHT, end[0] + _WIDTH // 2, end[1]
    return f'<path d="M{x} {y} C{x} {y + _DOWN} {to_x} {to_y - _DOWN} {to_x} {to_y}"/>'
