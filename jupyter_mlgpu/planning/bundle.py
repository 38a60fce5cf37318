"""The plan as a notebook stores it for our own view: bounded, with the places of boxes worked out here.

The browser only draws. Its side of the same contract is labextension/src/plan.ts. What is left out is
counted in `cut`, by what it is; `Plan.to_json` has all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from jupyter_mlgpu.planning import drawing
from jupyter_mlgpu.planning.layout import HEIGHT, WIDTH, Scene, areas, key

if TYPE_CHECKING:
    from jupyter_mlgpu.planning.forecast import Plan
    from jupyter_mlgpu.planning.graph import Body

MIME_TYPE = "application/vnd.jupyter-mlgpu.plan+json"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

#: Operations that are drawn one by one, of all functions together, and arrows between them: a drawing of
#: 200 stands in a notebook file with about 40 kB. A larger function is drawn by its groups, in short.
DRAWN = 200
ARROWS = 400
FUNCTIONS = 8

#: Rows of the tables, and characters of a name and of a reason.
_SUBGRAPHS, _FALLBACKS, _CROSSINGS, _NODES = 24, 60, 60, 3
_NAME, _REASON = 64, 160


def data(plan: Plan) -> dict[str, Any]:
    """The plan as JSON-ready data for the browser."""
    counts = plan.counts
    drawings, left = _drawings(plan)
    crossings = sorted(plan.crossings, key=lambda one: -(one.bytes or 0))  # the largest first
    cut = {
        "functions": left,
        "subgraphs": len(plan.subgraphs) - _SUBGRAPHS,
        "fallbacks": len(plan.fallbacks) - _FALLBACKS,
        "crossings": len(crossings) - _CROSSINGS,
    }
    return {
        "schema": SCHEMA,
        "subject": _name(plan.subject),
        "target": {"title": plan.target.title, "noun": plan.target.noun},
        "table": _name(plan.target.own.title),
        "operations": len(plan.placements),
        "counts": {
            "own": counts[plan.target.where],
            "shared": counts["core"] + counts["default"],
            "cpu": counts["cpu"] + counts["beside"],
        },
        "subgraphs": [
            {"function": _name(one.function), "operations": one.operations, "own": one.own}
            for one in plan.subgraphs[:_SUBGRAPHS]
        ],
        "fallbacks": [
            {
                "operation": _name(one.operation),
                "reason": _reason(one.reason),
                "count": one.count,
                "nodes": [_name(node) for node in one.nodes[:_NODES]],
            }
            for one in plan.fallbacks[:_FALLBACKS]
        ],
        "crossing": {
            "known_bytes": plan.known_bytes,
            "unknown_sizes": len(plan.unknown_sizes),
            "tensors": [
                {
                    "function": _name(one.function),
                    "tensor": _name(one.tensor),
                    "type": _name(one.type),
                    "to": one.to,
                    "bytes": one.bytes,
                    "why_missing": _reason(one.why_missing),
                }
                for one in crossings[:_CROSSINGS]
            ],
        },
        "drawings": drawings,
        "notes": [*plan.notes, *plan.sources],
        "cut": {part: count for part, count in cut.items() if count > 0},
    }


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
    boxes = [box for frame in scene.frames for box in frame.boxes]
    reasons = {reason: number for number, reason in enumerate(dict.fromkeys(box.hover for box in boxes))}
    return {
        "function": _name(body.name),
        "operations": len(body.nodes),
        "shown": sum(frame.operations for frame in scene.frames),
        "groups": sum(group.function == body.name for group in plan.groups),
        "whole": not scene.by_frame,
        "box": [WIDTH, HEIGHT],
        "size": [
            max((x + width for x, _, width, _ in places.values()), default=0),
            max((y + height for _, y, _, height in places.values()), default=0),
        ],
        # Left, top, width, height; the operations in it, and how many of them have no box.
        "frames": [
            [*places[key(frame, number)], frame.operations, frame.hidden]
            for number, frame in enumerate(scene.frames)
        ],
        # Left, top; the operation, its name, the kind of place, the reason's number; for how many it stands.
        "boxes": [
            [
                *places[box.name][:2],
                _name(box.title),
                _name(box.subtitle),
                box.kind,
                reasons[box.hover],
                box.count,
            ]
            for box in boxes
        ],
        "reasons": [_reason(one) for one in reasons],
        # From and to, as the numbers of boxes, or of frames where the function is drawn in short.
        "arrows": _numbered(scene, arrows[:ARROWS], (box.name for box in boxes)),
        "more_arrows": max(0, len(arrows) - ARROWS),
    }


def _numbered(scene: Scene, arrows: Sequence[tuple[str, str]], boxes: Iterable[str]) -> list[list[int]]:
    names = (key(*one[::-1]) for one in enumerate(scene.frames)) if scene.by_frame else boxes
    numbers = {name: number for number, name in enumerate(names)}
    return [[numbers[start], numbers[end]] for start, end in arrows]


def _name(text: str) -> str:
    """Cut at the start: the end of a name tells it apart from its neighbours."""
    return text if len(text) <= _NAME else "…" + text[1 - _NAME :]


def _reason(text: str) -> str:
    return text if len(text) <= _REASON else text[: _REASON - 1] + "…"
