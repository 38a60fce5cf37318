"""Draws boxes in frames from left to right as SVG, with a text alternative."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_mlgpu.graphs.planning.layout import Area, Box, Frame, Scene, areas, key
from jupyter_mlgpu.graphs.planning.routes import Route, routes
from jupyter_mlgpu.show.markup import Markup, element, joined
from jupyter_mlgpu.show.page.rendering import Drawing
from jupyter_mlgpu.show.page.svg import LETTER, frame, text

# In points of the drawing: around it, above it, between a box and its texts, and the texts' sizes, as in
# `page.svg.STYLE`.
_MARGIN, _HEAD, _EDGE, _LARGE, _SMALL = 16, 44, 4, 12, 10
#: Most characters that fit into a box, of the narrowest letters.
_LONGEST = 60

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
    title = _fitted(shown.title, width - 2 * _EDGE, _SMALL)
    written = text(x + width / 2, y + 17, title, "small") if title else None
    return joined(element("rect", class_="group", x=x, y=y, width=width, height=height, rx=6), written)


def _box(box: Box, area: Area) -> Markup:
    x, y, width, height = area
    middle = x + width // 2
    return element(
        "g",
        element("title", f"{box.title}, {box.subtitle}: {box.hover}"),
        element("rect", class_=box.kind, x=x, y=y, width=width, height=height, rx=4),
        text(middle, y + 17, _fitted(box.title, width - 2 * _EDGE, _LARGE)),
        text(middle, y + 31, _fitted(box.subtitle, width - 2 * _EDGE, _SMALL), "small"),
    )


def shorten_middle(name: str, most: int) -> str:
    """Return a name of at most `most` characters. A longer one gets an ellipsis after its first third.

    Its end, which distinguishes it from its neighbours, stays longer than its beginning.
    """
    if len(name) <= most:
        return name
    head = (most - 1) // 3
    return f"{name[:head]}…{name[head + 1 - most :]}"


def _fitted(name: str, room: float, size: int) -> str:
    """Return a name, shortened in the middle if it is wider than `room` in letters of `size` points."""
    if _width(name) * size <= room:
        return name
    fitting = (
        short
        for most in range(min(len(name), _LONGEST), 2, -1)
        if _width(short := shorten_middle(name, most)) * size <= room
    )
    return next(fitting, "…")


def _width(text: str) -> float:
    """Return at least the width of a text, in multiples of its font's size.

    The widths are those of DejaVu Sans, a wide font that Linux has in place of `sans-serif`.
    """
    return sum(
        1.0 if one in "mMwW@%…" or not one.isascii() else 0.8 if one.isupper() else 0.64 for one in text
    )
