"""The plan's picture: one function from left to right, coloured by device, groups boxed."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from jupyter_mlgpu.planning.graph import Body, Graph
from jupyter_mlgpu.planning.placing import Placement, Target
from jupyter_mlgpu.planning.subgraphs import Group, columns

MOST = 60  # more boxes than that cannot be read

# In points of the drawing.
_WIDTH, _HEIGHT, _ACROSS, _DOWN, _PAD, _MARGIN, _HEAD = 132, 40, 26, 10, 12, 16, 44

_STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.line { text-anchor: start; }
.type { font-size: 10px; fill: #59636e; }
.group { fill: none; stroke: #1f2328; stroke-dasharray: 5 3; }
.own { fill: #ccebc5; stroke: #2e7d32; }
.shared { fill: #dbeafe; stroke: #3a87c8; }
.cpu { fill: #fdd9b5; stroke: #c25b00; }
path { fill: none; stroke: #8c959f; }
"""


@dataclass(frozen=True)
class Picture:
    """A drawing as SVG, and the same in words for who cannot see it."""

    words: str
    svg: str

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        # An image with its text, rather than bare SVG: notebooks show that before one trusts them, too.
        data = base64.b64encode(self.svg.encode()).decode()
        return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(self.words)}">'


def picture(
    graph: Graph, placements: Sequence[Placement], groups: Sequence[Group], target: Target
) -> Picture:
    """The function with the most operations, at most `MOST` of them, which is said where it cuts."""
    body = max(graph.bodies, key=lambda one: len(one.nodes))
    placed = {one.node: one for one in placements if one.function == body.name}
    shown: list[Group] = []
    room = MOST
    for group in groups:
        if group.function == body.name and room > 0:
            shown.append(Group(group.function, group.on_device, group.nodes[:room]))
            room -= len(shown[-1].nodes)
    words = _words(body, sum(len(one.nodes) for one in shown), shown, placed, target)
    return Picture(words, _svg(body, shown, placed, words, target))


def _words(
    body: Body, drawn: int, shown: Sequence[Group], placed: Mapping[str, Placement], target: Target
) -> str:
    total = len(body.nodes)
    cut = f"the first {drawn:,} of {total:,}" if drawn < total else f"all {total:,}"
    counts = Counter(_kind(placed[name]) for group in shown for name in group.nodes)
    return (
        f"{body.name}, {cut} operations: {counts['own']:,} with a {target.title} {target.noun} (green), "
        f"{counts['shared']:,} with a kernel of TensorFlow's own (blue), "
        f"{counts['cpu']:,} on the CPU (orange); dashed boxes run as a whole."
    )


def _kind(one: Placement) -> str:
    if one.where == "cpu":
        return "cpu"
    return "shared" if one.where in ("core", "default") else "own"


def _svg(
    body: Body, shown: Sequence[Group], placed: Mapping[str, Placement], words: str, target: Target
) -> str:
    sources = {node.name: node.sources for node in body.nodes}
    boxes, frames = _places(shown, sources)
    width = max([760, *(x + w + _MARGIN for x, _, w, _ in frames)])
    height = max([_HEAD, *(y + h + _MARGIN for _, y, _, h in frames)])
    arrows = [
        _arrow(boxes[source], boxes[name]) for name in boxes for source in sources[name] if source in boxes
    ]
    drawn = [_box(placed[name], *place) for name, place in boxes.items()]
    dashed = [
        f'<rect class="group" x="{x}" y="{y}" width="{w}" height="{h}" rx="6"/>' for x, y, w, h in frames
    ]
    half = words.index(":") + 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
        f"<title>{escape(words)}</title><style>{_STYLE}</style>"
        f'<rect width="{width}" height="{height}" rx="6" style="fill:#ffffff;stroke:#d1d9e0"/>'
        f'<text class="line" x="{_MARGIN}" y="18">{escape(words[:half])}</text>'
        f'<text class="line" x="{_MARGIN}" y="34">{escape(words[half:].strip())}</text>'
        f"{''.join([*dashed, *arrows, *drawn])}</svg>"
    )


def _places(
    shown: Sequence[Group], sources: Mapping[str, Sequence[str]]
) -> tuple[dict[str, tuple[int, int]], list[tuple[int, int, int, int]]]:
    """Where each box stands, and the frame of each group: x, y, width, height."""
    group_of = {name: str(number) for number, group in enumerate(shown) for name in group.nodes}
    before: dict[str, set[str]] = {str(number): set() for number in range(len(shown))}
    for name, group in group_of.items():
        before[group] |= {group_of[one] for one in sources[name] if one in group_of} - {group}
    along = columns(list(before), before.__getitem__)
    inside = {str(number): _inside(group, sources) for number, group in enumerate(shown)}
    left = _MARGIN
    boxes: dict[str, tuple[int, int]] = {}
    frames = []
    for column in range(max(along.values(), default=-1) + 1):
        top, widest = _HEAD + 4, 0
        for number in (one for one in before if along[one] == column):
            cells = inside[number]
            across = max(x for x, _ in cells.values()) + 1
            down = max(y for _, y in cells.values()) + 1
            wide = 2 * _PAD + across * _WIDTH + (across - 1) * _ACROSS
            high = 2 * _PAD + down * _HEIGHT + (down - 1) * _DOWN
            frames.append((left, top, wide, high))
            for name, (x, y) in cells.items():
                boxes[name] = (left + _PAD + x * (_WIDTH + _ACROSS), top + _PAD + y * (_HEIGHT + _DOWN))
            top += high + _DOWN
            widest = max(widest, wide)
        left += widest + _ACROSS
    return boxes, frames


def _inside(group: Group, sources: Mapping[str, Sequence[str]]) -> dict[str, tuple[int, int]]:
    """The column and row of each operation within its group."""
    members = set(group.nodes)
    column = columns(group.nodes, lambda name: [one for one in sources[name] if one in members])
    rows: Counter[int] = Counter()
    cells = {}
    for name in group.nodes:
        cells[name] = (column[name], rows[column[name]])
        rows[column[name]] += 1
    return cells


def _box(one: Placement, x: int, y: int) -> str:
    middle = x + _WIDTH // 2
    return (
        f"<g><title>{escape(f'{one.node}: {one.reason}')}</title>"
        f'<rect class="{_kind(one)}" x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="4"/>'
        f'<text x="{middle}" y="{y + 17}">{escape(_short(one.operation))}</text>'
        f'<text class="type" x="{middle}" y="{y + 31}">{escape(_short(one.node, 24))}</text></g>'
    )


def _short(name: str, most: int = 19) -> str:
    return name if len(name) <= most else "…" + name[1 - most :]


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    x, y = start[0] + _WIDTH, start[1] + _HEIGHT // 2
    to_x, to_y = end[0], end[1] + _HEIGHT // 2
    return f'<path d="M{x} {y} C{x + _ACROSS} {y} {to_x - _ACROSS} {to_y} {to_x} {to_y}"/>'
