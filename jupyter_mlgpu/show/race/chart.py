"""The chart of a race: time against size with a line per device, or without sizes a bar per device."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import joined, say
from jupyter_mlgpu.show.page.chart import Axis, Chart, Point, Rule, Series
from jupyter_mlgpu.show.page.scales import written


def chart(result: RaceResult, head: str, crossings: Sequence[str]) -> Chart:
    """Return the chart. Over sizes both axes are logarithmic.

    Spreads are error bars, crossovers dashed lines.
    """
    lanes = [one for one in result.lanes if one.timings]
    over = result.variable is not None
    names = () if over else tuple(f"{one.device}: {units.duration(one.timings[0].median)}" for one in lanes)
    return Chart(
        (head,),
        Axis(result.variable or "", log=over, names=names),
        Axis(
            say("seconds"),
            log=over,
            zero=not over,
            written=lambda time: units.duration(time) if time else "0",
        ),
        tuple(_series(lane, number, over=over) for number, lane in enumerate(lanes)),
        joined(head, *crossings),
        tuple(
            Rule(one.size, label(one.large, one.size, result.variable or ""), one.low, one.high)
            for one in result.crossovers
            if one.size is not None
        ),
    )


def label(device: str, size: float, variable: str) -> str:
    """Return the label of a crossover's dashed line."""
    return say(
        "{device} faster from about {variable} = {size}",
        device=device,
        variable=variable,
        size=written(estimate(size)),
    )


def estimate(size: float) -> float:
    """Return a size with two figures, which is the precision that the tried sizes allow."""
    return float(f"{size:.2g}")


def median_text(timing: Timing | None) -> str:
    """Return a median with its spread in parentheses, or `not measured`."""
    if timing is None:
        return say("not measured")
    between = timing.interval
    if between is None:
        return units.duration(timing.median)
    low, high = map(units.duration, between)
    return f"{units.duration(timing.median)} ({low} to {high})"


def _series(lane: Lane, number: int, *, over: bool) -> Series:
    timings = sorted(lane.timings, key=lambda one: one.size or 0)
    points = tuple(
        Point(
            one.size or number,
            one.median,
            f"{lane.device}: {median_text(one)}",
            *(one.interval or (None, None)),
        )
        for one in timings
    )
    return Series(lane.device, points, number, "line" if over else "bar")
