"""Draws boxes in frames from left to right as SVG, with a text alternative."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_mlgpu.graphs.planning.layout import Area, Box, Frame, Scene, areas, key
from jupyter_mlgpu.graphs.planning.routes import Route, routes
from jupyter_mlgpu.show.markup import Markup, element, joined
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.svg import LETTER, frame, text

# In points of the drawing.
_MARGIN, _HEAD = 16, 44

#: CSS of boxes, by their kind, and of arrows.
STYLE = """
.given { fill: #f6f8fa; stroke: #59636e; }
.group { fill: #f6f8fa; stroke: #1f2328; stroke-dasharray: 5 3; }
.own { fill: #ccebc5; stroke: #2e7d32; }
.shared { fill: #dbeafe; stroke: #3a87c8; }
.cpu { fill: #fdd9b5; stroke: #c25b00; }
path { fill: none; stroke: #8c959f; }
"""


def draw(scene: Scene) -> Drawing:
    """Return the drawing. A frame is to the right of those with arrows to it, and so are boxes in a frame."""
    words, frames = scene.words, scene.frames
    places = areas(frames, scene.arrows, _MARGIN, _HEAD + 4)
    ways = routes({name: places[name] for name in ends(scene)}, scene.arrows)
    across, down = extent(places.values(), ways)
    # Chinese has its own colon.
    half = next(at for at, letter in enumerate(words, start=1) if letter in ":\uff1a")
    text_width = LETTER * max(half, len(words) - half)
    width, height = max(820, across + _MARGIN, text_width + 2 * _MARGIN), max(_HEAD, down + _MARGIN)
    parts = [_frame(one, places[key(one, number)]) for number, one in enumerate(frames)]
    parts += [element("path", d=curve(way)) for way in ways]
    parts += [_box(box, places[box.name]) for one in frames for box in one.boxes]
    lines = [
        text(_MARGIN, 18, words[:half], "left", most=len(words)),
        text(_MARGIN, 34, words[half:].strip(), "left", most=len(words)),
    ]
    return Drawing(frame(words, width, height, *lines, *parts, css=STYLE), words)


def ends(scene: Scene) -> list[str]:
    """Return the names of the boxes, or frames, that arrows connect."""
    if scene.by_frame:
        return [key(frame, number) for number, frame in enumerate(scene.frames)]
    return [box.name for frame in scene.frames for box in frame.boxes]


def extent(areas: Iterable[Area], ways: Iterable[Route]) -> tuple[int, int]:
    """Return the right and the bottom end of areas and arrows."""
    corners = [(x + width, y + height) for x, y, width, height in areas]
    corners += [corner for way in ways for corner in way]
    return max((x for x, _ in corners), default=0), max((y for _, y in corners), default=0)


def curve(way: Route, *, downwards: bool = False) -> str:
    """Return an arrow's route as an SVG path of horizontal and vertical lines, with bends between the boxes.

    A bend begins and ends horizontally, or vertically for an arrow that goes `downwards`.
    """
    (x, y), *corners = way
    drawn = [f"M{x} {y}"]
    for to_x, to_y in corners:
        if to_y == y:
            drawn.append(f"H{to_x}")
        elif to_x == x:
            drawn.append(f"V{to_y}")
        else:
            half, half_down = (x + to_x) / 2, (y + to_y) / 2
            bend = (x, half_down, to_x, half_down) if downwards else (half, y, half, to_y)
            drawn.append(f"C{' '.join(f'{one:g}' for one in bend)} {to_x} {to_y}")
        x, y = to_x, to_y
    return "".join(drawn)


def _frame(shown: Frame, area: Area) -> Markup:
    x, y, width, height = area
    title = text(x + width / 2, y + 17, shorten_start(shown.title, 34), "small") if shown.title else None
    return joined(element("rect", class_="group", x=x, y=y, width=width, height=height, rx=6), title)


def _box(box: Box, area: Area) -> Markup:
    x, y, width, height = area
    middle = x + width // 2
    return element(
        "g",
        element("title", f"{box.subtitle}: {box.hover}"),
        element("rect", class_=box.kind, x=x, y=y, width=width, height=height, rx=4),
        text(middle, y + 17, shorten_start(box.title, 19)),
        text(middle, y + 31, shorten_start(box.subtitle, 24), "small"),
    )


def shorten_start(name: str, most: int) -> str:
    """Return a name cut at its start to `most` characters, with an ellipsis if it is longer."""
    return name if len(name) <= most else "…" + name[1 - most :]
