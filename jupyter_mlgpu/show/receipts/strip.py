"""A cell's strip: the CPU's activity above, the GPUs' activity below, with time from left to right.

Each colour has its own pattern, for readers with colour vision deficiency. The strip is an image, because
JupyterLab removes bare SVG from untrusted HTML. The legend below it has the sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from math import ceil
from statistics import fmean
from typing import TypeVar

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.strip import COMPILING, IMPORTING, NATIVE, PYTHON, WAITING, GpuLane
from jupyter_mlgpu.show.markup import Child, Markup, element, image

T = TypeVar("T")
#: Translates a word or sentence into the receipt's language. The strip's words are among the page's texts.
Word = Callable[[str], str]

#: The name, the colour and the pattern's lines of each letter in a host lane.
HOST = {
    PYTHON: ("Python", "#3b6fb6", ""),
    NATIVE: ("native code", "#4aa3a3", "M0 4L4 0"),
    IMPORTING: ("importing", "#8f6bb3", "M2 0V4"),
    COMPILING: ("compiling", "#b3577e", "M0 0L4 4M0 4L4 0"),
    WAITING: ("waiting", "#c9ced6", "M0 2H4"),
}
_KERNELS, _COPIES = ("kernels", "#2f7d4f", ""), ("copies", "#e08a1e", "M0 0L4 4")
_BACKGROUND, _MARK = "#8893a2", "#d0342c"
#: In pixels: the width of the image, the height of a lane, and the gap between two.
_WIDTH, _LANE, _GAP = 720, 13, 2
_FULL = 9
#: The part of the wall time that the legend may lack, because samples come some milliseconds late.
_UNSEEN = 0.02
_BLOCKS = " ▁▂▃▄▅▆▇█"
#: Most characters of the strip in plain text.
_CHARACTERS = 60


def picture(record: Record, word: Word = str) -> list[Markup]:
    """Return the strip as an image, or nothing if neither lane is known."""
    if not any(_legend(record)):
        return []
    alternative = say("Over the cell's time: {legend}", legend=f"{words(record, word)}.")
    return [image(svg(record), word(alternative))]


def legend(record: Record, word: Word = str) -> list[Markup]:
    """Return the meaning of the colours with the sums, and which lane is unknown. Nothing if both are."""
    lanes = list(_legend(record, word))
    missing = (f" · {word(one)}" for one in not_drawn(record))
    return [element("div", *_keyed(lanes, word), *missing)] if lanes else []


def not_drawn(record: Record) -> list[str]:
    """Return why an expected lane is missing, so that it is not mistaken for idle."""
    if record.host_lane is None:
        return ["CPU: not sampled"]
    times = [one for one in record.readings if one.quantity == "device_time"]
    if any(one.scope == "process" and one.value for one in times):  # a driver's count is coarse
        return ["GPU: not drawn, its driver counts in coarse steps"]
    ran = any(one.kind != "cpu" for one in record.device.ran_on or ())
    return ["GPU: not known"] if ran and all(one.value is None for one in times) else []


def words(record: Record, word: Word = str) -> str:
    """Return `CPU: Python 312 ms, waiting 190 ms · GPU: kernels 140 ms, copies 5 ms`. The parts add up."""
    return " · ".join(
        f"{lane}: "
        + (", ".join(f"{name} {units.seconds(seconds)}" for name, _, seconds in parts) or word("idle"))
        for lane, parts in _legend(record, word)
    )


def _legend(record: Record, word: Word = str) -> Iterator[tuple[str, list[tuple[str, str, float]]]]:
    """Yield each lane's name and its parts: their names, colours and seconds."""
    if record.host_lane is not None:
        wall = record.reading("wall_time").value or 0.0
        spent = [(*HOST[one.did][:2], one.seconds) for one in record.host_lane.spent if one.did in HOST]
        unseen = wall - sum(seconds for *_, seconds in spent)
        spent += [("not sampled", _BACKGROUND, unseen)] if unseen > _UNSEEN * wall else []
        yield "CPU", [(word(name), colour, seconds) for name, colour, seconds in spent]
    for work in record.gpu_work:
        if work.lane is not None:
            name = "GPU" if len(record.gpu_work) == 1 else work.device
            parts = [(*_KERNELS[:2], work.lane.kernel_seconds), (*_COPIES[:2], work.lane.copy_seconds)]
            yield name, [(word(part), colour, seconds) for part, colour, seconds in parts if seconds > 0]


def _keyed(lanes: list[tuple[str, list[tuple[str, str, float]]]], word: Word) -> Iterator[Child]:
    """Yield the legend with a square in the colour of each part."""
    for number, (lane, parts) in enumerate(lanes):
        yield f"{' · ' if number else ''}{lane}: {'' if parts else word('idle')}"
        for at, (name, colour, seconds) in enumerate(parts):
            yield ", " if at else ""
            yield element("span", "■", style=f"color:{colour}", aria_hidden="true")
            yield f" {name} {units.seconds(seconds)}"


def text(record: Record) -> list[str]:
    """Return the GPU's activity over time as block characters. For several GPUs it is their mean."""
    lanes = {work.device: work.lane for work in record.gpu_work if work.lane is not None}
    if not lanes:
        return []
    name = next(iter(lanes)) if len(lanes) == 1 else f"{len(lanes)} GPUs"
    return [f"{name} {blocks([*lanes.values()])}"]


def blocks(lanes: Sequence[GpuLane]) -> str:
    """Return the mean activity of the GPUs, with one character for several bins."""
    levels = [kernels + copies for kernels, copies in together(lanes)]
    if not levels:
        return ""
    size = -(-len(levels) // _CHARACTERS)
    groups = [levels[at : at + size] for at in range(0, len(levels), size)]
    means = [min(1.0, sum(one) / len(one) / _FULL) for one in groups]
    return "".join(_BLOCKS[ceil(mean * (len(_BLOCKS) - 1))] for mean in means)


def together(lanes: Sequence[GpuLane]) -> list[tuple[float, float]]:
    """Return for each bin the mean levels of kernels and of copies over a cell's GPUs, from 0 to 9."""
    bins = zip(*(zip(one.kernels, one.copies, strict=True) for one in lanes), strict=True)
    return [
        (fmean(int(kernels) for kernels, _ in each), fmean(int(copies) for _, copies in each))
        for each in bins
    ]


def svg(record: Record) -> Markup:
    """Return the drawing of a record, which must have lanes."""
    wall = record.reading("wall_time").value or 0.0
    duration = record.duration or wall
    boxes: dict[str, list[str]] = {}
    top = 0.0
    host = record.host_lane
    if host is not None:
        for at, count, letter in _runs(host.did):
            if letter in HOST:
                boxes.setdefault(letter, []).append(_box(at, count, host.seconds / duration, top, _LANE))
        top += _LANE + _GAP
    gpus = [one.lane for one in record.gpu_work if one.lane is not None]
    for at, count, levels in _runs(together(gpus)):
        bottom = top + _LANE
        for level, name in zip(levels, (_KERNELS[0], _COPIES[0]), strict=True):
            height = min(bottom - top, _LANE * level / _FULL)
            bottom -= height
            if height > 0:
                box = _box(at, count, gpus[0].seconds / duration, bottom, height)
                boxes.setdefault(name, []).append(box)
    top += _LANE + _GAP if gpus else 0.0
    height = top - _GAP
    ended = _WIDTH * wall / duration
    mark = [element("path", d=f"M{ended:.1f} 0V{height:g}", stroke=_MARK, stroke_width="2")]
    backs = [
        element("path", d=f"M0 {y:g}h{_WIDTH}v{_LANE}H0z", fill=_BACKGROUND, fill_opacity=".15")
        for y in (0, _LANE + _GAP)
        if y < height
    ]
    drawn = [element("path", d="".join(found), fill=f"url(#{name})") for name, found in boxes.items()]
    used = [one for one in _named() if one[0] in boxes]
    return element(
        "svg",
        element("defs", *map(_pattern, used)),
        *backs,
        *drawn,
        *(mark if record.asynchronous and duration > wall else []),
        xmlns="http://www.w3.org/2000/svg",
        width=f"{_WIDTH}",
        height=f"{height:g}",
        viewBox=f"0 0 {_WIDTH} {height:g}",
    )


def _box(at: int, count: int, part: float, y: float, height: float) -> str:
    """Return a rectangle over some bins, each of which is `part` of the time, in whole pixels to be short."""
    left, right = round(_WIDTH * part * at), round(_WIDTH * part * (at + count))
    high = f"{height:.1f}".removesuffix(".0")
    return f"M{left} {y:.1f}h{right - left}v{high}h-{right - left}z".replace(".0h", "h")


def _runs(bins: Sequence[T]) -> Iterator[tuple[int, int, T]]:
    """Yield runs of equal bins: their first index, their number, and their value."""
    at = 0
    for what, same in groupby(bins):
        count = sum(1 for _ in same)
        yield at, count, what
        at += count


def _named() -> Iterator[tuple[str, str, str]]:
    yield from ((letter, colour, lines) for letter, (_, colour, lines) in HOST.items())
    yield from ((name, colour, lines) for name, colour, lines in (_KERNELS, _COPIES))


def _pattern(named: tuple[str, str, str]) -> Markup:
    name, colour, lines = named
    strokes = [element("path", d=lines, stroke="#ffffff", stroke_opacity=".55", fill="none")] if lines else []
    fill = element("rect", width="4", height="4", fill=colour)
    return element("pattern", fill, *strokes, id=name, width="4", height="4", patternUnits="userSpaceOnUse")
