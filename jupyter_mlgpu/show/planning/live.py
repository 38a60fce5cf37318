"""The graph of a plan as a notebook stores it for the package's own view: bounded, with all positions.

The browser only draws. Its readers (labextension/src/page/graphtypes.ts) are generated from these types.
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
from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.planning import drawing
from jupyter_mlgpu.show.planning.svg import ends, extent, shorten_middle

#: Most operations that are drawn individually, in all functions together, and most arrows: a drawing of 200
#: takes about 40 kB in a notebook file. A larger function is drawn by its groups.
DRAWN = 200
ARROWS = 400
FUNCTIONS = 8

#: Most characters of a name and of a reason.
_NAME, _REASON = 120, 160

#: Limits of what the browser reads, for drawings of later versions: boxes or frames, and arrows.
READ_BOXES, READ_ARROWS = 500, 1_000
#: Most points of a drawing. Larger coordinates are invalid.
FARTHEST = 200_000

#: Runs with the device's own kernels, with TensorFlow's own for any device, or on the CPU.
Kind = Literal["own", "shared", "cpu"]
#: The corners of an arrow, `188 20 214 20`.
Way = NewType("Way", str)
Point = Annotated[float, Meta(ge=0), Most(FARTHEST)]
Name = Annotated[str, Printed(), Otherwise("")]
Number = Annotated[int, Otherwise(0)]


@dataclass(frozen=True, slots=True)
class TargetData:
    """The target of a plan. `noun` is what its table lists: kernels or layers."""

    title: Name
    noun: Annotated[str, Otherwise("")]


@dataclass(frozen=True, slots=True)
class CountsData:
    """The number of operations of each kind."""

    own: int
    shared: int
    cpu: int


class SizeData(NamedTuple):
    """The size of a drawing or of its boxes."""

    width: Point
    height: Point


class FrameData(NamedTuple):
    """Operations that can run as a whole: place, number, and the number of them without a box."""

    x: Point
    y: Point
    width: Point
    height: Point
    operations: Number
    hidden: Number


class BoxData(NamedTuple):
    """A box: place, operation, name, kind, and the index of the reason."""

    x: Point
    y: Point
    operation: Name
    name: Name
    kind: Kind
    reason: int | None
    #: The number of operations it stands for. 0: the one of its name.
    stands_for: Annotated[Number, Called("count")]


@dataclass(frozen=True, slots=True)
class DrawingData:
    """One function. `whole`: each operation has its box. Otherwise the largest groups have one per kind.

    `arrows` connect boxes, or frames if the function is drawn by its groups.
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
    """The functions of a plan, and the number of operations of each kind."""

    target: TargetData | None
    counts: CountsData
    drawings: tuple[DrawingData, ...] = ()
    more_functions: int = 0


def graph(plan: Plan) -> Live:
    """Return the functions of a plan as graphs, and the number of operations of each kind."""
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
    """Return drawings of the functions that fit, the largest first, and the number of the others."""
    bodies = sorted((one for one in plan.graph.bodies if one.nodes), key=lambda one: -len(one.nodes))
    found: list[DrawingData] = []
    room = DRAWN
    for body in bodies:
        # The largest is always drawn, by its groups if necessary.
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
                cast(Kind, box.kind),  # a plan has no other kinds
                reasons[box.hover],
                box.count,
            )
            for box in boxes
        ),
        tuple(shorten(one, _REASON) for one in reasons),
        tuple(Way(" ".join(f"{x} {y}" for x, y in way)) for way in ways),
        max(0, len(arrows) - ARROWS),
    )


def name(text: str) -> str:
    """Return a name, shortened in the middle if it is longer than the browser reads."""
    return shorten_middle(text, _NAME)
