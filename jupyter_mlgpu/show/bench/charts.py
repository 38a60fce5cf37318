"""The charts of a benchmark as plain data: TFLOP/s against size, and the roofline.

The roofline (S. Williams, A. Waterman, D. Patterson, Communications of the ACM 52(4), 2009) bounds a
program's speed by two measured figures: the rate of matrix products, and the memory bandwidth times the
operations per byte moved. All axes are logarithmic.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.bench.bench_sentences import quantity, three
from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.show.page.chart import COLOURS, Axis, Chart, Point, Series

_SPEED = Axis("TFLOP/s", log=True)

#: A roof is drawn to this multiple of its outermost point.
_OVER = 1.5

#: The colour of bandwidth, which has no number type.
_NO_COLOUR = len(COLOURS) - 1


def sizes(results: Sequence[CaseResult], head: str, *, replayed: bool = False) -> Chart:
    """Return the chart of gemm's TFLOP/s against n.

    There is a line per type, framework and device. Each point has its spread.
    """
    lines: dict[str, list[CaseResult]] = {}
    for one in _products(results):
        lines.setdefault(_name(one, results), []).append(one)
    colours = _colours(results)
    series = [
        Series(name, tuple(map(_speed, sorted(found, key=_n))), colours[_key(found[0])], dashed=replayed)
        for name, found in lines.items()
    ]
    title = say("Products of n x n matrices")
    return Chart((title, head), Axis("n", log=True), _SPEED, tuple(series), joined(title, head))


def roofline(results: Sequence[CaseResult], head: str) -> Chart:
    """Return the chart of TFLOP/s against operations per byte, with a roof per framework, device and type.

    A roof is drawn only if both of its rates were measured.
    """
    points = [one for one in results if one.moved and one.tflops.value]
    colours = _colours(results)
    series: list[Series] = []
    for key in _groups(results):
        framework, device, type_, _ = key
        mine = [one for one in points if (one.framework, one.device) == (framework, device)]
        typed = [one for one in mine if one.peak_type and one.type_ran == type_]
        name = f"{registry.title(framework)} {device} {type_}"
        series.append(Series(name, tuple(map(_intensity, typed)), colours[key], "points"))
        series += _roof(name, colours[key], typed, [one for one in mine if one.case == "bandwidth"])
    # Bandwidth has no arithmetic, so its point is at the foot of the roof.
    moving = [one for one in points if one.peak_type is None]
    if moving:
        series.append(Series(say("bandwidth"), tuple(map(_intensity, moving)), _NO_COLOUR, "points"))
    return under_roofs(series, head)


#: A line that has its own colour: framework, device, type and options. It is the same in both charts.
_Key = tuple[str, str, str | None, tuple[str, ...]]


def _colours(results: Sequence[CaseResult]) -> dict[_Key, int]:
    keys = dict.fromkeys([*map(_key, _products(results)), *_groups(results)])
    return {key: number % _NO_COLOUR for number, key in enumerate(keys)}


def _products(results: Sequence[CaseResult]) -> list[CaseResult]:
    return [one for one in results if one.case == "gemm" and one.tflops.value is not None and _n(one) > 0]


def _key(one: CaseResult) -> _Key:
    return one.framework, one.device, one.type_asked, one.options


def _groups(results: Sequence[CaseResult]) -> list[_Key]:
    """Return the framework, device and type of each roof."""
    found = (one for one in results if one.moved and one.tflops.value and one.peak_type)
    return list(dict.fromkeys((one.framework, one.device, one.type_ran, ()) for one in found))


def _roof(name: str, colour: int, typed: Sequence[CaseResult], moving: Sequence[CaseResult]) -> list[Series]:
    peak = max((one.tflops.value or 0.0 for one in typed if one.case == "gemm"), default=0.0)
    speed = max((one.throughput.value or 0.0 for one in moving), default=0.0)
    under = [_intensity(one).x for one in (*typed, *moving)]
    return roof(name, colour, peak, speed, under)


def roof(name: str, colour: int, peak: float, speed: float, under: Sequence[float]) -> list[Series]:
    """Return a roof's line over the points at `under`, or nothing if a rate is unknown.

    `under` is in operations per byte, `peak` in TFLOP/s and `speed` in bytes/s.
    """
    if not peak or not speed:
        return []
    ridge = peak * 1e12 / speed
    label = f"{three(peak)} TFLOP/s, {three(speed / 1e9)} GB/s"
    # The line covers the points and its own ridge, with a margin on either side.
    ends = (min(ridge, *under) / _OVER, ridge, max(ridge, *under) * _OVER)
    points = tuple(Point(x, min(peak, speed * x / 1e12), label) for x in ends)
    return [Series(say("roof of {name}", name=name), points, colour, "roof")]


def under_roofs(series: Sequence[Series], head: str) -> Chart:
    """Return a roofline chart of these series, which are TFLOP/s against operations per byte."""
    along = Axis(say("operations per byte that has to move"), log=True)
    title = say("Roofline")
    return Chart((title, head), along, _SPEED, tuple(series), joined(title, head))


def _speed(one: CaseResult) -> Point:
    value, step = one.tflops.value or 0.0, one.median.value or 0.0
    between = one.interval
    # The longest time of the interval gives the lowest speed.
    low, high = (None, None) if between is None else (value * step / between[1], value * step / between[0])
    return Point(_n(one), value, f"{one.label}: {quantity(one.tflops)}", low, high)


def _n(one: CaseResult) -> float:
    """Return the size of a product, or 0 if the file lacks it. A logarithmic axis has no place for 0."""
    size = one.parameters.get("n")
    return float(size) if isinstance(size, int | float) and not isinstance(size, bool) else 0.0


def _intensity(one: CaseResult) -> Point:
    value = one.tflops.value or 0.0
    label = f"{one.label}: {quantity(one.tflops)}"
    return Point((one.flops or 0.0) / (one.moved or 1.0), value, label)


def _name(one: CaseResult, results: Sequence[CaseResult]) -> str:
    """Return a line's name: the type, and anything else that distinguishes it among these results."""
    parts = [one.type_asked]
    if len({other.framework for other in results}) > 1:
        parts.insert(0, registry.title(one.framework))
    if len({other.device for other in results}) > 1:
        parts.append(one.device)
    return " ".join([*parts, *one.options])
