"""Lay out boxes and the frames around them from left to right, each after those from which it has arrows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jupyter_mlgpu.graphs.planning.subgraphs import columns

# In points of the drawing: a box, the room between boxes, and around them within a frame.
WIDTH, HEIGHT, ACROSS, DOWN, PAD, TITLE = 150, 40, 26, 10, 12, 16

Area = tuple[int, int, int, int]
"""Left, top, width and height."""


@dataclass(frozen=True)
class Box:
    """One box: its name, two lines of text, a kind that sets its colour, and a hover text.

    `count` is the number of operations for which it stands, 0 if it stands for itself.
    """

    name: str
    title: str
    subtitle: str
    kind: str
    hover: str
    count: int = 0


@dataclass(frozen=True)
class Frame:
    """Boxes that belong together. If it has a name, arrows may go from frame to frame.

    `operations` is the number of operations for which the frame stands, `hidden` of those that no box shows.
    """

    boxes: tuple[Box, ...]
    title: str = ""
    name: str = ""
    operations: int = 0
    hidden: int = 0


@dataclass(frozen=True)
class Scene:
    """The content of a drawing: frames, and arrows from box to box or, `by_frame`, from frame to frame."""

    words: str
    frames: tuple[Frame, ...]
    arrows: tuple[tuple[str, str], ...]
    by_frame: bool = False


def key(frame: Frame, number: int) -> str:
    """Return the name of a frame in the result of `areas`."""
    return frame.name or f"frame {number}"


def areas(
    frames: Sequence[Frame], arrows: Sequence[tuple[str, str]], left: int = 0, top: int = 0
) -> dict[str, Area]:
    """Return the area of each box and each frame, by name; `left` and `top` are those of the first one."""
    frame_of = {box.name: key(frame, number) for number, frame in enumerate(frames) for box in frame.boxes}
    frame_of |= {key(frame, number): key(frame, number) for number, frame in enumerate(frames)}
    before: dict[str, set[str]] = {key(frame, number): set() for number, frame in enumerate(frames)}
    takes: dict[str, set[str]] = {}
    for start, end in arrows:
        takes.setdefault(end, set()).add(start)
        if frame_of[start] != frame_of[end]:
            before[frame_of[end]].add(frame_of[start])
    along = columns(list(before), before.__getitem__)
    found: dict[str, Area] = {}
    for column in range(max(along.values(), default=-1) + 1):
        below, widest = top, 0
        for number, frame in enumerate(frames):
            if along[key(frame, number)] == column:
                wide, high = _fill(frame, left, below, takes, found)
                found[key(frame, number)] = (left, below, wide, high)
                below, widest = below + high + DOWN, max(widest, wide)
        left += widest + ACROSS
    return found


def _fill(
    frame: Frame, left: int, top: int, takes: Mapping[str, set[str]], areas: dict[str, Area]
) -> tuple[int, int]:
    """Set the areas of the boxes of a frame, and return the frame's width and height."""
    head = TITLE if frame.title else 0
    along = columns([box.name for box in frame.boxes], lambda name: takes.get(name, ()))
    rows: Counter[int] = Counter()
    for box in frame.boxes:
        column = along[box.name]
        x = left + PAD + column * (WIDTH + ACROSS)
        areas[box.name] = (x, top + head + PAD + rows[column] * (HEIGHT + DOWN), WIDTH, HEIGHT)
        rows[column] += 1
    across, down = max(rows) + 1, max(rows.values())
    wide = 2 * PAD + across * WIDTH + (across - 1) * ACROSS
    return wide, head + 2 * PAD + down * HEIGHT + (down - 1) * DOWN
