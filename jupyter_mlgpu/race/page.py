"""A race in sentences, as a text table and as an HTML table."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from jupyter_mlgpu.frameworks import registry
from jupyter_mlgpu.markup import bullets, element
from jupyter_mlgpu.markup import table as html_table
from jupyter_mlgpu.race.crossover import Crossover, compare
from jupyter_mlgpu.render import words

if TYPE_CHECKING:
    from jupyter_mlgpu.race.result import Lane, RaceResult, Timing
    from jupyter_mlgpu.race.runner import Progress

RESTORE = (
    "Devices run one after another, and runs within a process restore nothing: each finds what all runs "
    "before it left behind."
)
FRESH = (
    "Each device had a process of its own, one after another. Runs within a process restore nothing: each "
    "finds what the runs before it left behind."
)
QUIET = "What the cell prints is shown for each device's first run alone."

#: Sizes whose warm-up never settled are named up to so many.
_NAMED = 6


def number(size: float) -> str:
    """A size as people write it: `1,000`, `1e7`, `0.5`."""
    if float(size).is_integer() and size < 1e6:
        return f"{size:,.0f}"
    return f"{size:.4g}".replace("e+0", "e").replace("e+", "e")


def duration(seconds: float) -> str:
    """Three figures with a unit, from nanoseconds up."""
    if seconds < 0.9995e-6:
        return f"{seconds * 1e9:.0f} ns"
    if seconds < 0.9995e-3:
        return f"{seconds * 1e6:.3g} µs"
    return words.seconds(seconds)


def head(result: RaceResult) -> str:
    """Who raced, and how often."""
    against = " against ".join(map(_lane_name, result.lanes)) or "no device"
    label = {"ok": "", "error": "Ended by an error: ", "interrupted": "Interrupted: "}[result.outcome]
    runs = f"{result.repeats:,} runs each" if result.repeats > 1 else "one run each"
    name = words.framework(result.framework)
    return f"{label}`{result.cell}` with {name} on {against}, {runs} after warm-up."


def title(result: RaceResult) -> list[str]:
    """The chart's title, a line each: what raced, and on what; the rest stands in the table's head."""
    against = " against ".join(lane.device for lane in result.lanes)
    return [result.cell, f"{words.framework(result.framework)}: {against}"]


def sentences(result: RaceResult) -> list[str]:
    """What came of it, a sentence each."""
    problems = [f"{one.device}: {one.problem}." for one in result.lanes if one.problem]
    if result.variable is None:
        return [*_fastest(result), *problems]
    return [*(crossing(one, result.variable) for one in result.crossovers), *problems]


def crossing(one: Crossover, variable: str) -> str:
    """Where two devices change places, or why that is not known."""
    if one.size is None or one.low is None or one.high is None:
        return f"No crossover of {one.small} and {one.large}: {one.why_missing}."
    return (
        f"{one.large} becomes faster than {one.small} at about {variable} = {number(estimate(one.size))} "
        f"(between {number(one.low)} and {number(one.high)})."
    )


def notes(result: RaceResult) -> list[str]:
    """What the figures mean, and what they do not say."""
    spreads = dict.fromkeys(one.spread for lane in result.lanes for one in lane.timings if one.interval)
    what = [f"Times are medians; in brackets: {'; or '.join(spreads)}."] if spreads else []
    return [
        *what,
        *_empty(result),
        *_unsteady(result),
        FRESH if result.fresh else RESTORE,
        QUIET,
        *_of_framework(result),
        *result.notes,
        *(note for lane in result.lanes for note in lane.notes),
    ]


def progress(now: Progress, variable: str | None) -> str:
    """What runs now, for the line that tells of it."""
    at = "" if now.size is None else f", {variable} = {number(now.size)}"
    run = f"run {now.number} of {now.repeats}" if now.number else "warm-up"
    return f"Race: {now.device}{at}, {run}"


def table(result: RaceResult) -> list[tuple[str, ...]]:
    """Header and rows as text: a row a size, a column a device, and who was faster."""
    several = len(result.lanes) > 1
    devices = [one.device for one in result.lanes]
    rows = [(result.variable or "", *devices, *(["faster"] if several else []))]
    for size in result.sizes:
        timings = [one.at(size) for one in result.lanes]
        name = "time" if size is None else number(size)
        faster = [_faster(result.lanes, timings)] if several else []
        rows.append((name, *map(timed, timings), *faster))
    return rows


def text(result: RaceResult) -> str:
    """The race as plain text."""
    rows = table(result) if result.sizes else []
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0] if rows else ()))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([head(result), *lines, *sentences(result), *notes(result)])


def html(result: RaceResult) -> str:
    """The race as HTML that needs nothing else; what comes from the user is escaped."""
    header, *rows = table(result) if result.sizes else [()]
    told = [element("p", one) for one in [head(result), *sentences(result)]]
    return str(element("div", *told, html_table(header, rows), element("small", bullets(notes(result)))))


def markdown(result: RaceResult) -> str:
    """The race in Markdown: the sentences, the table, the notes."""
    header, *rows = table(result)
    lines = [f"| {' | '.join(row)} |" for row in [header, tuple("---" for _ in header), *rows]]
    told = "\n".join([head(result), *sentences(result)])
    return "\n".join([told, "", *lines, "", *(f"* {one}" for one in notes(result)), ""])


def json_text(result: RaceResult) -> str:
    """The result as the text of a JSON file."""
    return json.dumps(result.to_json(), ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def _of_framework(result: RaceResult) -> list[str]:
    """What the times hold or lack with this framework."""
    if result.framework not in registry.FRAMEWORKS:  # replayed
        return []
    known = registry.framework(result.framework)
    gpu = any(lane.kind != "cpu" for lane in result.lanes)
    return list(filter(None, (known.race_note, known.race_note_gpu if gpu else "")))


def _lane_name(lane: Lane) -> str:
    return f"{lane.device} ({lane.hardware})" if lane.hardware else lane.device


def timed(timing: Timing | None) -> str:
    """A median with its spread in brackets, or that there is none."""
    if timing is None:
        return "not measured"
    between = timing.interval
    spread = "" if between is None else f" ({duration(between[0])} to {duration(between[1])})"
    return duration(timing.median) + spread


def fastest(lanes: Sequence[Lane], timings: Sequence[Timing | None]) -> tuple[Lane, float] | None:
    """The lane that is certainly faster than every other, and how many times as fast as the next; None
    where that is not certain, or fewer than two were measured."""
    known = [(one, lane) for one, lane in zip(timings, lanes, strict=True) if one is not None]
    if len(known) < 2:
        return None
    (best, lane), *others = sorted(known, key=lambda pair: pair[0].median)
    if not all(compare(best, other) < 0 for other, _ in others):
        return None
    return lane, others[0][0].median / best.median


def _faster(lanes: Sequence[Lane], timings: Sequence[Timing | None]) -> str:
    """`fastest` in words; empty where there is nothing to compare."""
    if sum(one is not None for one in timings) < 2:
        return ""
    found = fastest(lanes, timings)
    if found is None:
        return "not certain"
    lane, times = found
    return f"{lane.device}, {times:,.0f} times" if times >= 100 else f"{lane.device}, {times:.3g} times"


def _fastest(result: RaceResult) -> list[str]:
    timings = [one.at(None) for one in result.lanes]
    verdict = _faster(result.lanes, timings)
    if verdict == "not certain":
        return ["The spreads overlap: which device is faster is not certain."]
    return [f"The fastest is {verdict} as fast as the next."] if verdict else []


def _empty(result: RaceResult) -> list[str]:
    known = [f"{duration(one.empty)} on {one.device}" for one in result.lanes if one.empty is not None]
    if not known:
        return []
    return [f"Waiting for a device that has nothing to do takes {', '.join(known)}; each time includes it."]


def _unsteady(result: RaceResult) -> list[str]:
    found = [(one.device, timing) for one in result.lanes for timing in one.timings if not timing.steady]
    if not found:
        return []
    named = [
        device if timing.size is None else f"{device} at {number(timing.size)}"
        for device, timing in found[:_NAMED]
    ]
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    return [f"The warm-up had not become steady when it ended: {', '.join(named)}{more}."]


def estimate(size: float) -> float:
    """An estimate to two figures: the sizes that were tried say no more."""
    return float(f"{size:.2g}")
