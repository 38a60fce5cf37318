"""The burn of a benchmark: its answer in a sentence, its course as charts and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.bench import burning
from jupyter_mlgpu.experiment.bench.bench_sentences import quantity
from jupyter_mlgpu.experiment.bench.quantity import Quantity
from jupyter_mlgpu.experiment.bench.result import WIDE, Burn, CaseResult
from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, joined, say
from jupyter_mlgpu.show.page.chart import Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.model import Table

#: Most rows of the table: each is the median of some samples. The file has all samples.
_ROWS = 12
#: A clock rate that changed by less than this part is not mentioned.
_SMALL = 0.01

#: The readings of a burn: name, unit, attribute of `Burn`.
_READINGS = (
    (say("power"), "W", "watts"),
    (say("temperature"), "°C", "celsius"),
    (say("clock"), "MHz", "megahertz"),
)


def sentence(result: CaseResult, burn: Burn) -> Sentence:
    """Return the answer without its full stop: did the throughput last, and what did the sensors show.

    It names no cause of a fall, only the temperature and the clock rate that the sensors read meanwhile.
    """
    rates = burning.rates(result)
    found = burning.fall(result)
    lasted = units.seconds(burn.ended[-1])
    if found is not None:
        what = say(
            "Throughput fell by {share} after {time} ({before} to {after})",
            share=units.percent(found.share),
            time=units.seconds(found.at),
            before=_speed(found.before),
            after=_speed(found.after),
        )
    elif burning.is_too_short(result):
        what = say(
            "The burn is too short to say if throughput lasts: {count} samples in {time} at {rate}",
            count=len(rates),
            time=lasted,
            rate=_speed(median(rates)),
        )
    else:
        ordered = sorted(rates)
        tenth = len(ordered) // 10
        low, high = ordered[tenth], ordered[-1 - tenth]
        middle = median(rates)
        if high - low <= WIDE * middle:
            what = say("Throughput was sustained for {time} at {rate}", time=lasted, rate=_speed(middle))
        else:
            what = say(
                "Throughput did not fall for good within {time}, but varied from {low} to {high}",
                time=lasted,
                low=_speed(low),
                high=_speed(high),
            )
    seen = _seen(result, burn, found)
    return what if seen is None else say("{what}, while {seen}", what=what, seen=seen)


def _speed(rate: float) -> str:
    return units.decimal(rate, "FLOP/s")


def _teraflops(result: CaseResult) -> list[float]:
    return [rate / 1e12 for rate in burning.rates(result)]


def _seen(result: CaseResult, burn: Burn, found: burning.Fall | None) -> Sentence | None:
    """Return what the sensors showed, None if nothing is known or worth mentioning."""
    known = [one for one in burn.celsius if one is not None]
    hottest = f"{max(known):.0f}" if known else None
    clocks = None if found is None else _clocks(burn, found.index)
    if clocks is None:
        if hottest is None:
            return None
        return say("{device} reached {celsius} °C", device=result.device, celsius=hottest)
    before, after = (f"{one:,.0f}" for one in clocks)
    if hottest is None:
        return say(
            "the clock of {device} went from {before} to {after} MHz",
            device=result.device,
            before=before,
            after=after,
        )
    return say(
        "{device} reached {celsius} °C and its clock went from {before} to {after} MHz",
        device=result.device,
        celsius=hottest,
        before=before,
        after=after,
    )


def _clocks(burn: Burn, index: int) -> tuple[float, float] | None:
    """Return the median clock rates before and after the fall, None if unknown or the same."""
    before = [one for one in burn.megahertz[:index] if one is not None]
    after = [one for one in burn.megahertz[index:] if one is not None]
    if not before or not after:
        return None
    rates = median(before), median(after)
    return rates if abs(rates[1] - rates[0]) > _SMALL * rates[0] else None


def charts(results: Sequence[CaseResult], head: str, *, replayed: bool = False) -> tuple[Chart, ...]:
    """Return charts over time: the throughput, and each kind of reading that is known."""
    burns = [(one, one.burn) for one in results if one.burn is not None and one.samples]
    rates = [
        Series(_name(one, burns), _points(burn, _teraflops(one), "TFLOP/s"), number, dashed=replayed)
        for number, (one, burn) in enumerate(burns)
    ]
    drawn = [_chart(say("throughput"), "TFLOP/s", rates, head)]
    for title, unit, attribute in _READINGS:
        series = [
            Series(_name(one, burns), _points(burn, getattr(burn, attribute), unit), number, dashed=replayed)
            for number, (one, burn) in enumerate(burns)
        ]
        drawn.append(_chart(title, unit, [one for one in series if one.points], head))
    return tuple(one for one in drawn if one.series)


def _chart(title: Sentence, unit: str, series: Sequence[Series], head: str) -> Chart:
    named = say("Burn: {figure} over time", figure=title)
    along = Axis(say("seconds since the burn began"), zero=True)
    return Chart((named, head), along, Axis(unit, zero=True), tuple(series), joined(named, head))


def _points(burn: Burn, values: Sequence[float | None], unit: str) -> tuple[Point, ...]:
    return tuple(
        Point(ended, value, f"{units.seconds(ended)}: {quantity(Quantity(value, unit))}")
        for ended, value in zip(burn.ended, values, strict=True)
        if value is not None
    )


def _name(one: CaseResult, burns: Sequence[tuple[CaseResult, Burn]]) -> str:
    """Return a line's name: where it ran, if there are several."""
    return f"{one.framework} {one.device}" if len(burns) > 1 else one.device


def tables(results: Sequence[CaseResult]) -> list[Table]:
    """Return a table per burn: medians of equal stretches of time."""
    return [_table(one, one.burn) for one in results if one.burn is not None and one.samples]


def _table(result: CaseResult, burn: Burn) -> Table:
    figures: list[tuple[str, str, Sequence[float | None]]] = [
        (say("throughput"), "TFLOP/s", _teraflops(result)),
        *((title, unit, getattr(burn, attribute)) for title, unit, attribute in _READINGS),
    ]
    kept = [one for one in figures if any(value is not None for value in one[2])]
    rows = []
    for part in burning.groups(len(burn.ended), _ROWS):
        cells = [_middle(values[part], unit) for _, unit, values in kept]
        rows.append((units.seconds(burn.ended[part][-1]), *cells))
    return Table(
        (say("until"), *(title for title, _, _ in kept)),
        tuple(rows),
        caption=result.label,
        summary=say("The burn over time as a table"),
    )


def _middle(values: Sequence[float | None], unit: str) -> str:
    known = [one for one in values if one is not None]
    return quantity(Quantity(median(known), unit)) if known else ""


def missing(result: CaseResult) -> list[tuple[str, str]]:
    """Return the reasons why readings of a burn are not known, each with the name of the reading."""
    names = {"power": say("power"), "temperature": say("temperature"), "clock": say("clock")}
    return [] if result.burn is None else [(why, names[name]) for name, why in result.burn.missing.items()]
