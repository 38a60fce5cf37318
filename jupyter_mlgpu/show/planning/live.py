"""The graph of a plan as a notebook keeps it for our own view: bounded, with the places of all boxes.

The browser only draws. Its readers (labextension/src/page/graphtypes.ts) are made of the types here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple, NewType, cast

from msgspec import Meta

from jupyter_mlgpu.graphs.planning.forecast import Plan
from jupyter_mlgpu.graphs.planning.graph import Body
from jupyter_mlgpu.graphs.planning.layout import HEIGHT, WIDTH, areas, key
from jupyter_mlgpu.graphs.planning.routes import routes
from jupyter_mlgpu.record.bounds import Called, Most, Otherwise, Printed, Said, Whole
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

#: What the browser reads of a drawing, which may be of a later version: boxes, or frames, and arrows.
READ_BOXES, READ_ARROWS = 500, 1_000
#: Points of a drawing; what lies further out is nobody's graph.
FARTHEST = 200_000

#: By kernels of the device's own, by TensorFlow's own for any device, or on the CPU.
Kind = Literal["own", "shared", "cpu"]
#: The corners of an arrow, `188 20 214 20`.
Way = NewType("Way", str)
Point = Annotated[float, Meta(ge=0), Most(FARTHEST)]
Name = Annotated[str, Printed(), Otherwise("")]
Number = Annotated[int, Otherwise(0)]


@dataclass(frozen=True, slots=True)
class TargetData:
    """Where it would run; `noun` is what is known of it, kernels or layers."""

    title: Name
    noun: Annotated[str, Otherwise("")]


@dataclass(frozen=True, slots=True)
class CountsData:
    """How many operations are of each kind."""

    own: int
    shared: int
    cpu: int


class SizeData(NamedTuple):
    """Of a drawing, and of each of its boxes."""

    width: Point
    height: Point


class FrameData(NamedTuple):
    """Operations that can run as a whole: where, how many, and how many of them no box tells."""

    x: Point
    y: Point
    width: Point
    height: Point
    operations: Number
    hidden: Number


class BoxData(NamedTuple):
    """Where; the operation, its name, where it runs, and the number of the reason."""

    x: Point
    y: Point
    operation: Name
    name: Name
    kind: Kind
    reason: int | None
    #: How many operations it stands for; 0: for the one of its name.
    stands_for: Annotated[Number, Called("count")]


@dataclass(frozen=True, slots=True)
class DrawingData:
    """One function. `whole`: each operation has its box; else the largest groups have one for each kind.

    `arrows` go from box to box, or from frame to frame where the function is drawn in short.
    """

    function: Name
    operations: int
    shown: Number
    groups: Number
    whole: bool
    box: SizeData
    size: SizeData
    frames: Annotated[tuple[FrameData, ...], Whole(), Most(READ_BOXES)]
    boxes: Annotated[tuple[BoxData, ...], Whole(), Most(READ_BOXES)]
    reasons: Annotated[tuple[Annotated[Said, Otherwise("")], ...], Most(READ_BOXES)] = ()
    arrows: Annotated[tuple[Way, ...], Most(READ_ARROWS)] = ()
    more_arrows: int = 0


@dataclass(frozen=True, slots=True)
class GraphData:
    """The functions of a plan, and how many operations are of which kind."""

    target: TargetData | None
    counts: CountsData
    drawings: tuple[DrawingData, ...] = ()
    more_functions: int = 0


def graph(plan: Plan) -> Live:
    """The functions of a plan as graphs, and how many operations are of which kind."""
    counts = plan.counts
    drawings, left = _drawings(plan)
    data = GraphData(
        TargetData(plan.target.title, plan.target.noun),
        CountsData(
            counts[plan.target.where],
            counts["core"] + counts["default"],
            counts["cpu"] + counts["beside"],
        ),
        tuple(drawings),
        left,
    )
    return Live("graph", data)


def _drawings(plan: Plan) -> tuple[list[DrawingData], int]:
    """The functions, the largest first, while there is room for their operations; and how many are left."""
    bodies = sorted((one for one in plan.graph.bodies if one.nodes), key=lambda one: -len(one.nodes))
    found: list[DrawingData] = []
    room = DRAWN
    for body in bodies:
        # The largest is drawn in any case: in short, where it has to be.
        if len(found) == FUNCTIONS or (found and len(body.nodes) > room):
            continue
        found.append(_drawing(plan, body))
        room -= min(room, len(body.nodes))
    return found, len(bodies) - len(found)


def _drawing(plan: Plan, body: Body) -> DrawingData:
    scene = drawing.scene(body, plan.placements, plan.groups, plan.target, DRAWN)
    arrows = list(dict.fromkeys(scene.arrows))
    places = areas(scene.frames, arrows)
    ways = routes({one: places[one] for one in ends(scene)}, arrows[:ARROWS])
    boxes = [box for frame in scene.frames for box in frame.boxes]
    reasons = {reason: number for number, reason in enumerate(dict.fromkeys(box.hover for box in boxes))}
    return DrawingData(
        name(body.name),
        len(body.nodes),
        sum(frame.operations for frame in scene.frames),
        sum(group.function == body.name for group in plan.groups),
        not scene.by_frame,
        SizeData(WIDTH, HEIGHT),
        SizeData(*extent(places.values(), ways)),
        tuple(
            FrameData(*places[key(frame, number)], frame.operations, frame.hidden)
            for number, frame in enumerate(scene.frames)
        ),
        tuple(
            BoxData(
                *places[box.name][:2],
                name(box.title),
                name(box.subtitle),
                cast(Kind, box.kind),  # of a plan there are no others
                reasons[box.hover],
                box.count,
            )
            for box in boxes
        ),
        tuple(_reason(one) for one in reasons),
        tuple(Way(" ".join(f"{x} {y}" for x, y in way)) for way in ways),
        max(0, len(arrows) - ARROWS),
    )


def name(text: str) -> str:
    """Cut at the start: the end of a name tells it apart from its neighbours."""
    return text if len(text) <= _NAME else "…" + text[1 - _NAME :]


def _reason(text: str) -> str:
    return text if len(text) <= _REASON else text[: _REASON - 1] + "…"
