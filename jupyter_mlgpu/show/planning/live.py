"""The graph of a plan as a notebook keeps it for our own view: bounded, with the places of all boxes.

The browser only draws. Its side of the same contract is labextension/src/page/graph.ts.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.graphs.planning.forecast import Plan
from jupyter_mlgpu.graphs.planning.graph import Body
from jupyter_mlgpu.graphs.planning.layout import HEIGHT, WIDTH, areas, key
from jupyter_mlgpu.graphs.planning.routes import routes
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.planning import drawing
from jupyter_mlgpu.show.planning.svg import ends, extent

#: Operations that are drawn one by one, of all functions together, and arrows between them: a drawing of
#: 200 stands in a notebook file with about 40 kB. A larger function is drawn by its groups, in short.
DRAWN = 200
ARROWS = 400
FUNCTIONS = 8

#: Characters of a name and of a reason.
_NAME, _REASON = 64, 160


def graph(plan: Plan) -> Live:
    """The functions of a plan as graphs, and how many operations are of which kind."""
    counts = plan.counts
    drawings, left = _drawings(plan)
    return Live(
        "graph",
        {
            "target": {"title": plan.target.title, "noun": plan.target.noun},
            "counts": {
                "own": counts[plan.target.where],
                "shared": counts["core"] + counts["default"],
                "cpu": counts["cpu"] + counts["beside"],
            },
            "drawings": drawings,
            "more_functions": left,
        },
    )


def _drawings(plan: Plan) -> tuple[list[dict[str, Any]], int]:
    """The functions, the largest first, while there is room for their operations; and how many are left."""
    bodies = sorted((one for one in plan.graph.bodies if one.nodes), key=lambda one: -len(one.nodes))
    found: list[dict[str, Any]] = []
    room = DRAWN
    for body in bodies:
        # The largest is drawn in any case: in short, where it has to be.
        if len(found) == FUNCTIONS or (found and len(body.nodes) > room):
            continue
        found.append(_drawing(plan, body))
        room -= min(room, len(body.nodes))
    return found, len(bodies) - len(found)


def _drawing(plan: Plan, body: Body) -> dict[str, Any]:
    scene = drawing.scene(body, plan.placements, plan.groups, plan.target, DRAWN)
    arrows = list(dict.fromkeys(scene.arrows))
    places = areas(scene.frames, arrows)
    ways = routes({one: places[one] for one in ends(scene)}, arrows[:ARROWS])
    boxes = [box for frame in scene.frames for box in frame.boxes]
    reasons = {reason: number for number, reason in enumerate(dict.fromkeys(box.hover for box in boxes))}
    return {
        "function": name(body.name),
        "operations": len(body.nodes),
        "shown": sum(frame.operations for frame in scene.frames),
        "groups": sum(group.function == body.name for group in plan.groups),
        "whole": not scene.by_frame,
        "box": [WIDTH, HEIGHT],
        "size": list(extent(places.values(), ways)),
        # Left, top, width, height; the operations in it, and how many of them have no box.
        "frames": [
            [*places[key(frame, number)], frame.operations, frame.hidden]
            for number, frame in enumerate(scene.frames)
        ],
        # Left, top; the operation, its name, the kind of place, the reason's number; for how many it stands.
        "boxes": [
            [
                *places[box.name][:2],
                name(box.title),
                name(box.subtitle),
                box.kind,
                reasons[box.hover],
                box.count,
            ]
            for box in boxes
        ],
        "reasons": [_reason(one) for one in reasons],
        # The corners of each, from box to box, or from frame to frame where the function is drawn in short.
        "arrows": [" ".join(f"{x} {y}" for x, y in way) for way in ways],
        "more_arrows": max(0, len(arrows) - ARROWS),
    }


def name(text: str) -> str:
    """Cut at the start: the end of a name tells it apart from its neighbours."""
    return text if len(text) <= _NAME else "…" + text[1 - _NAME :]


def _reason(text: str) -> str:
    return text if len(text) <= _REASON else text[: _REASON - 1] + "…"
