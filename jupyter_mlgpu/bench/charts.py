"""The charts of a benchmark as plain data: TFLOP/s against size, and the roofline.

The roofline (S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009) bounds what a
program can reach by two measured figures: what products of matrices reached, and the bandwidth times the
operations for each byte that has to move. All axes are logarithmic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from jupyter_mlgpu.bench import page
from jupyter_mlgpu.render import words

if TYPE_CHECKING:
    from jupyter_mlgpu.bench.result import Result
    from jupyter_mlgpu.bench.run import BenchRun

Kind = Literal["line", "points", "roof"]


@dataclass(frozen=True, slots=True)
class Point:
    """A place in the axes' units; `low` and `high` end its spread in y, None where there is none."""

    x: float
    y: float
    label: str
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """Points of one name, joined by a line, or by a dashed one as a roof; equal colours belong together."""

    name: str
    kind: Kind
    colour: int
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """A title, what the axes are, and what is drawn; without series there is nothing to draw."""

    title: str
    x: str
    y: str
    series: tuple[Series, ...]


def sizes(run: BenchRun) -> Chart:
    """TFLOP/s of gemm against n: a line a type, framework and device, with the spread of each point."""
    lines: dict[str, list[Result]] = {}
    for one in run.results:
        if one.case == "gemm" and one.tflops.value is not None and _n(one) > 0:
            lines.setdefault(_name(one, run), []).append(one)
    series = [
        Series(name, "line", number, tuple(_speed(one) for one in sorted(found, key=lambda one: _n(one))))
        for number, (name, found) in enumerate(lines.items())
    ]
    return Chart("Products of n x n matrices", "n", "TFLOP/s", tuple(series))


def roofline(run: BenchRun) -> Chart:
    """TFLOP/s against operations a byte, under a roof for each framework, device and type that has both."""
    points = [one for one in run.results if one.moved and one.tflops.value]
    series: list[Series] = []
    groups = dict.fromkeys((one.framework, one.device, one.type_ran) for one in points if one.peak_type)
    for number, (framework, device, type_) in enumerate(groups):
        mine = [one for one in points if (one.framework, one.device) == (framework, device)]
        typed = [one for one in mine if one.peak_type and one.type_ran == type_]
        name = f"{words.framework(framework)} {device} {type_}"
        series.append(Series(name, "points", number, tuple(map(_intensity, typed))))
        series += _roof(name, number, typed, [one for one in mine if one.case == "bandwidth"])
    # What moves data stands at the foot of the roof.
    moving = [one for one in points if one.peak_type is None]
    if moving:
        series.append(Series("bandwidth", "points", len(groups), tuple(map(_intensity, moving))))
    return Chart("Roofline", "operations a byte that has to move", "TFLOP/s", tuple(series))


def _roof(name: str, colour: int, typed: Sequence[Result], moving: Sequence[Result]) -> list[Series]:
    peak = max((one.tflops.value or 0.0 for one in typed if one.case == "gemm"), default=0.0)
    speed = max((one.throughput.value or 0.0 for one in moving), default=0.0)
    if not peak or not speed:
        return []
    ridge = peak * 1e12 / speed
    label = f"{page.three(peak)} TFLOP/s, {page.three(speed / 1e9)} GB/s"
    ends = (ridge / 1000, ridge, ridge * 100)
    points = tuple(Point(x, min(peak, speed * x / 1e12), label) for x in ends)
    return [Series(f"roof of {name}", "roof", colour, points)]


def _speed(one: Result) -> Point:
    value, step = one.tflops.value or 0.0, one.median.value or 0.0
    between = one.interval
    # The longest time of the interval is the lowest speed.
    low, high = (None, None) if between is None else (value * step / between[1], value * step / between[0])
    return Point(_n(one), value, f"{one.label}: {page.quantity(one.tflops)}", low, high)


def _n(one: Result) -> float:
    """The size of a product; 0 where a file tells none, which has no place on the axis."""
    size = one.parameters.get("n")
    return float(size) if isinstance(size, int | float) and not isinstance(size, bool) else 0.0


def _intensity(one: Result) -> Point:
    value = one.tflops.value or 0.0
    label = f"{one.label}: {page.quantity(one.tflops)}"
    return Point((one.flops or 0.0) / (one.moved or 1.0), value, label)


def _name(one: Result, run: BenchRun) -> str:
    """A line's name: the type, and what else sets it apart in this run."""
    parts = [one.type_asked]
    if len({other.framework for other in run.results}) > 1:
        parts.insert(0, words.framework(one.framework))
    if len({other.device for other in run.results}) > 1:
        parts.append(one.device)
    return " ".join([*parts, *one.options])
