"""The content of a plan's picture: one function, coloured by device, groups in frames. svg.py draws it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from jupyter_mlgpu.graphs.planning.graph import Body, FunctionGraph
from jupyter_mlgpu.graphs.planning.layout import Box, Frame, Scene
from jupyter_mlgpu.graphs.planning.placing import Placement, PlanTarget
from jupyter_mlgpu.graphs.planning.subgraphs import Group
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.planning.svg import draw

MOST = 60  # operations that are drawn individually; a larger drawing would be unreadable
# For a larger function: most groups on the device and on the CPU, and most kinds of operations per group.
_ON_DEVICE, _ON_CPU, _KINDS = 8, 6, 6

_Placed = Mapping[str, Placement]


def picture(
    graph: FunctionGraph, placements: Sequence[Placement], groups: Sequence[Group], target: PlanTarget
) -> Drawing:
    """Return a drawing of the function with the most operations: each of them, or groups if it is large."""
    body = max(graph.bodies, key=lambda one: len(one.nodes))
    return draw(scene(body, placements, groups, target, MOST))


def scene(
    body: Body, placements: Sequence[Placement], groups: Sequence[Group], target: PlanTarget, most: int
) -> Scene:
    """Return the content of a function's drawing: each operation, or groups if there are more than `most`."""
    placed = {one.node: one for one in placements if one.function == body.name}
    own = [group for group in groups if group.function == body.name]
    if len(body.nodes) <= most:
        return _each(body, own, placed, target)
    return _in_short(body, own, placed, target)


def _each(body: Body, groups: Sequence[Group], placed: _Placed, target: PlanTarget) -> Scene:
    frames = [
        Frame(
            tuple(Box(name, placed[name].operation, name, *_look(placed[name])) for name in group.nodes),
            operations=len(group.nodes),
        )
        for group in groups
    ]
    arrows = [(source, node.name) for node in body.nodes for source in node.sources if source in placed]
    counts = Counter(_kind(one) for one in placed.values())
    words = f"{body.name}, {_operations(len(body.nodes), 'all ')}: {_colours(counts, target)}"
    return Scene(words, tuple(frames), tuple(arrows))


def _in_short(body: Body, groups: Sequence[Group], placed: _Placed, target: PlanTarget) -> Scene:
    # Groups of only TensorFlow's own operations (mostly constants) would hide the interesting ones.
    telling = [group for group in groups if any(_kind(placed[name]) != "shared" for name in group.nodes)]
    ordered = sorted(telling, key=lambda group: -len(group.nodes))
    device = [group for group in ordered if group.on_device][:_ON_DEVICE]
    cpu = [group for group in ordered if not group.on_device][:_ON_CPU]
    shown = [group for group in telling if group in device or group in cpu]
    frames = [_short_frame(str(number), group, placed) for number, group in enumerate(shown)]
    of = {name: str(number) for number, group in enumerate(shown) for name in group.nodes}
    arrows = {
        (of[source], of[node.name])
        for node in body.nodes
        for source in node.sources
        if source in of and node.name in of and of[source] != of[node.name]
    }
    counts = Counter(_kind(placed[name]) for name in of)
    words = (
        f"{body.name}, {len(of):,} of {_operations(len(body.nodes))} in {len(shown):,} of {len(groups):,} "
        f"groups, the largest on either side, counted by kind: {_colours(counts, target)}"
    )
    return Scene(words, tuple(frames), tuple(sorted(arrows)), by_frame=True)


def _short_frame(name: str, group: Group, placed: _Placed) -> Frame:
    counts = Counter((placed[node].operation, *_look(placed[node])) for node in group.nodes)
    # Operations that TensorFlow serves on any device (constants, shapes) come last, however frequent.
    telling = sorted(counts.items(), key=lambda item: (item[0][1] == "shared", -item[1]))[:_KINDS]
    boxes = [
        Box(f"{name}/{place}", operation, f"{count:,} of them" if count > 1 else "1", kind, reason, count)
        for place, ((operation, kind, reason), count) in enumerate(telling)
    ]
    rest = len(group.nodes) - sum(count for _, count in telling)
    more = f", {rest:,} not shown" if rest else ""
    return Frame(tuple(boxes), f"{_operations(len(group.nodes))}{more}", name, len(group.nodes), rest)


def _operations(count: int, before: str = "") -> str:
    return f"{count:,} operation" if count == 1 else f"{before}{count:,} operations"


def _colours(counts: Mapping[str, int], target: PlanTarget) -> str:
    return (
        f"{counts['own']:,} with a {target.title} {target.noun} (green), "
        f"{counts['shared']:,} of TensorFlow's own for any device (blue), "
        f"{counts['cpu']:,} on the CPU (orange). Dashed boxes can run as a whole."
    )


def _look(one: Placement) -> tuple[str, str]:
    return _kind(one), one.reason


def _kind(one: Placement) -> str:
    if not one.on_device:
        return "cpu"
    return "shared" if one.where in ("core", "default") else "own"
