"""The page of a comparison, with its chart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jupyter_mlgpu.explain.comparing.compare import Change, RecordComparison, Sample
from jupyter_mlgpu.explain.comparing.expect import Judgement
from jupyter_mlgpu.explain.comparing.headline import headline, ratio
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import say, say_count
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.page.chart import Axis, Chart, Point, Rule, Series
from jupyter_mlgpu.show.page.model import Page, Part, Table
from jupyter_mlgpu.show.page.rendering import page_of

ABOUT = say(
    "Medians over the runs, lowest and highest in parentheses; ratios with their 95 % "
    "interval (Hodges-Lehmann, exact Mann-Whitney)."
)
VERDICTS = say(
    "Same: within 1 %. Unclear: either side may be the larger one. Approximate: too few runs for an "
    "interval; 4 and 4 are enough. Unknown: measured on one side only, or a value is 0."
)

PROFILED = say("Self times of operations with the profiler on: they are not timings of the cell.")

#: Most rows of a chart. A longer chart would be unreadable.
_ROWS = 30


@page_of.register
def page(comparison: RecordComparison) -> Page:
    """Return the page: how many times as long each cell took, tables of cells and operations, and a chart."""
    first, second = comparison.first, comparison.second
    headlines = [headline(pair, first, second) for pair in comparison.pairs]
    alone = len(headlines) == 1
    parts: list[Part] = []
    for pair, one in zip(comparison.pairs, headlines, strict=True):
        if not alone:
            parts.append(say("{name}: {told}", name=pair.name, told=one))
        # Without measurements there is no table whose caption could be the name.
        parts.append(_table(comparison, pair.changes, pair.name) if pair.changes else pair.name)
        if pair.operations:
            parts.append(_table(comparison, pair.operations, PROFILED))
        parts += pair.notes
    title = say("{first} and {second} compared", first=first, second=second)
    return Page(
        tuple(parts),
        (ABOUT, VERDICTS, *comparison.notes),
        (chart(comparison),),
        title=title,
        headline=headlines[0] if alone else "",
    )


def chart(comparison: RecordComparison) -> Chart:
    """Return the chart of the ratios with their intervals. It has no series if no ratio is known.

    A point is the second side as a multiple of the first, on a logarithmic axis. The line at 1 means no
    difference.
    """
    judged = list(_judged(comparison))[:_ROWS]
    points = [
        Point(
            one.ratio.value,
            row,
            say("{name}: {ratio}, {verdict}", name=name, ratio=_times(one), verdict=one.verdict),
            one.ratio.low,
            one.ratio.high,
        )
        for row, (name, one) in enumerate(judged)
        if one.ratio is not None
    ]
    title = say(
        "{second} as a multiple of {first}, 95 % interval", second=comparison.second, first=comparison.first
    )
    drawn = (Series("", tuple(points), 0, "points"),) if points else ()
    names = Axis("", names=tuple(name for name, _ in judged))
    words = say("Chart: {title}; the table shows the same figures.", title=title)
    return Chart((), Axis(title, log=True), names, drawn, words, (Rule(1.0),) if drawn else ())


def _judged(comparison: RecordComparison) -> Iterator[tuple[str, Change]]:
    for pair in comparison.pairs:
        for change in (*pair.changes, *pair.operations):
            if change.ratio is not None:
                name = change.what if len(comparison.pairs) == 1 else f"{change.what}, {pair.name}"
                yield name, change


def _table(comparison: RecordComparison, changes: Sequence[Change], caption: str) -> Table:
    first, second = comparison.first, comparison.second
    columns = ("", first, second, f"{second} / {first}", say("verdict"))
    rows = (
        (one.what, _sample(one.first, one.unit), _sample(one.second, one.unit), _times(one), one.verdict)
        for one in changes
    )
    return Table(columns, tuple(rows), caption=caption)


def _times(change: Change) -> str:
    """Return the second side as a multiple of the first, as the headline does."""
    if change.times is None:
        return ""
    times, found = ratio(change.times), change.ratio
    if found is None:
        return say("about {ratio}", ratio=times)
    return say("{ratio} [{low} to {high}]", ratio=times, low=ratio(found.low), high=ratio(found.high))


def _sample(sample: Sample, unit: str) -> str:
    if not sample.values:
        return say("not measured")
    low, high = (_figure(one, unit) for one in (min(sample.values), max(sample.values)))
    runs = say_count("{count} run", "{count} runs", len(sample.values))
    median = _figure(sample.median, unit)
    if low == high:
        return say("{median} ({runs})", median=median, runs=runs)
    return say("{median} ({low} to {high}, {runs})", median=median, low=low, high=high, runs=runs)


def _figure(value: float, unit: str) -> str:
    if unit == "s":
        return units.seconds(value)
    if unit == "launches":
        return f"{value:,.0f}"
    return units.size(value) if unit == "bytes" else f"{value:.3g} {unit}"


@page_of.register
def _judgement(shown: Judgement) -> Page:
    sentences = {
        "holds": say("✓ holds: {why}", why=shown.sentence),
        "does not hold": say("✗ does not hold: {why}", why=shown.sentence),
        "cannot judge": say("○ cannot judge: {why}", why=shown.sentence),
    }
    return Page((translated(sentences[shown.state], shown.language),))
