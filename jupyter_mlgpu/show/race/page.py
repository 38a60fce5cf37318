"""The page of a race: its devices, its table, its result, and notes on the figures."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.experiment.race.crossover import Crossover
from jupyter_mlgpu.experiment.race.result import Lane, RaceResult, Timing
from jupyter_mlgpu.experiment.race.runner import RaceProgress
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, folded, say, say_count, with_commas
from jupyter_mlgpu.show.page.model import FIGURES, Page, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.page.scales import written
from jupyter_mlgpu.show.race.chart import chart, estimate, median_text
from jupyter_mlgpu.show.race.headline import fastest, headline

RESTORE = say(
    "Devices run one after another, and nothing is restored between runs in a process: each "
    "run finds what all earlier runs left behind."
)
FRESH = say(
    "Each device had its own process, one after another. Nothing is restored between runs in "
    "a process: each run finds what the earlier runs left behind."
)
QUIET = say("The cell's output is shown only for each device's first run.")
NOT_CERTAIN = say("not certain")

#: Most sizes with an unsettled warm-up that are named.
_NAMED = 6


@page_of.register
def page(result: RaceResult) -> Page:
    """Return the page: the faster device, the devices, problems, the chart and the table."""
    subtitle, crossovers = head(result), crossings(result)
    return Page(
        (subtitle, *problems(result), table(result)),
        (*crossovers, *notes(result)),
        (chart(result, subtitle, crossovers),),
        title=say("Race: {cell}", cell=result.cell),
        kind="race",
        headline=headline(result),
    )


def head(result: RaceResult) -> Sentence:
    """Return the devices and the number of runs as a sentence."""
    names = [f"{one.device} ({one.hardware})" if one.hardware else one.device for one in result.lanes]
    raced = {
        "cell": result.cell,
        "framework": registry.title(result.framework),
        "devices": folded(lambda one, other: say("{one} against {other}", one=one, other=other), names)
        if names
        else say("no device"),
        "runs": say_count("one run each", "{count} runs each", result.repeats),
    }
    if result.used:
        return {
            "ok": say("`{cell}` with {framework} on {devices}, {runs} after warm-up.", **raced),
            "error": say(
                "Ended by an error: `{cell}` with {framework} on {devices}, {runs} after warm-up.", **raced
            ),
            "interrupted": say(
                "Interrupted: `{cell}` with {framework} on {devices}, {runs} after warm-up.", **raced
            ),
        }[result.outcome]
    del raced["framework"]
    return {
        "ok": say("`{cell}`, {runs} after warm-up, as timed for {devices}.", **raced),
        "error": say("Ended by an error: `{cell}`, {runs} after warm-up, as timed for {devices}.", **raced),
        "interrupted": say("Interrupted: `{cell}`, {runs} after warm-up, as timed for {devices}.", **raced),
    }[result.outcome]


def problems(result: RaceResult) -> list[Sentence]:
    """Return a sentence for each device whose results are incomplete."""
    return [
        say("{device}: {problem}.", device=one.device, problem=one.problem)
        for one in result.lanes
        if one.problem
    ]


def crossings(result: RaceResult) -> list[Sentence]:
    """Return a sentence on the crossover of each pair of devices. Empty without sizes."""
    return [crossing(one, result.variable or "") for one in result.crossovers]


def crossing(one: Crossover, variable: str) -> Sentence:
    """Return the size at which two devices change places, or why it is unknown."""
    if one.size is None or one.low is None or one.high is None:
        return say(
            "No crossover between {small} and {large}: {why}.",
            small=one.small,
            large=one.large,
            why=one.why_missing or "",
        )
    return say(
        "{large} becomes faster than {small} at about {variable} = {size} (between {low} and {high}).",
        large=one.large,
        small=one.small,
        variable=variable,
        size=written(estimate(one.size)),
        low=written(one.low),
        high=written(one.high),
    )


def notes(result: RaceResult) -> list[str]:
    """Return notes on how the figures were obtained and on their limits."""
    spreads = dict.fromkeys(one.spread for lane in result.lanes for one in lane.timings if one.interval)
    what = []
    if spreads:
        ways = folded(lambda one, other: say("{one}; or {other}", one=one, other=other), list(spreads))
        what = [say("Times are medians; in parentheses: {spread}.", spread=ways)]
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


def progress(now: RaceProgress, variable: str | None) -> Sentence:
    """Return the text of the progress line."""
    run = {"number": now.number, "count": now.repeats}
    if now.size is None:
        if not now.number:
            return say("Race: {device}, warm-up", device=now.device)
        return say("Race: {device}, run {number} of {count}", device=now.device, **run)
    at = {"device": now.device, "variable": variable or "", "size": written(now.size)}
    if not now.number:
        return say("Race: {device}, {variable} = {size}, warm-up", **at)
    return say("Race: {device}, {variable} = {size}, run {number} of {count}", **at, **run)


def table(result: RaceResult) -> Table:
    """Return a table with a row per size, a column per device, and the faster device."""
    several = len(result.lanes) > 1
    rows = []
    for size in result.sizes:
        timings = [one.at(size) for one in result.lanes]
        name = say("time") if size is None else written(size)
        faster = [_faster(result.lanes, timings)] if several else []
        rows.append((name, *map(median_text, timings), *faster))
    devices = (one.device for one in result.lanes)
    columns = (result.variable or "", *devices, *([say("faster")] if several else []))
    return Table(columns, tuple(rows), summary=FIGURES)


def _of_framework(result: RaceResult) -> list[str]:
    """Return the notes on what times include or lack with this framework."""
    if result.framework not in registry.FRAMEWORKS:  # replayed
        return []
    known = registry.framework(result.framework)
    gpu = any(lane.kind != "cpu" for lane in result.lanes)
    return list(filter(None, (known.race_note, known.race_note_gpu if gpu else "")))


def _faster(lanes: Sequence[Lane], timings: Sequence[Timing | None]) -> str:
    """Return the result of `fastest` as text, or an empty text if there is nothing to compare."""
    if sum(one is not None for one in timings) < 2:
        return ""
    found = fastest(lanes, timings)
    if found is None:
        return NOT_CERTAIN
    best, _, times = found
    return say("{device}, {times} times", device=best.device, times=times)


def _empty(result: RaceResult) -> list[str]:
    known = [
        say("{time} on {device}", time=units.duration(one.empty), device=one.device)
        for one in result.lanes
        if one.empty is not None
    ]
    if not known:
        return []
    times = with_commas(known)
    return [say("Waiting for an idle device takes {times}; each time includes this.", times=times)]


def _unsteady(result: RaceResult) -> list[str]:
    found = [(one.device, timing) for one in result.lanes for timing in one.timings if not timing.steady]
    if not found:
        return []
    named: Sentence = with_commas(
        [
            device
            if timing.size is None
            else say("{device} at {size}", device=device, size=written(timing.size))
            for device, timing in found[:_NAMED]
        ]
    )
    if len(found) > _NAMED:
        named = say("{named} and {more} more", named=named, more=len(found) - _NAMED)
    return [say("The warm-up had not stabilized when it ended: {named}.", named=named)]
