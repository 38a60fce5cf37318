"""The page of a forecast for a Mac's GPU: its answer, what needs attention, and all operations."""

from __future__ import annotations

from jupyter_mlgpu.graphs.mps.forecast import FINE, ForecastOperation, Judgement, MpsForecast
from jupyter_mlgpu.graphs.mps.traced import CodePlace
from jupyter_mlgpu.record.sentence import Sentence, folded, say, say_count
from jupyter_mlgpu.show.mps.headline import headline, place
from jupyter_mlgpu.show.page.model import Page, Part, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: Most rows under a cell, and most places in a row. Text output has all rows.
_ROWS, _PLACES = 40, 3

JUDGEMENTS: dict[Judgement, Sentence] = {
    "gpu": say("runs on the GPU"),
    "composite": say("made of other operations"),
    "fallback": say("always runs on the CPU"),
    "missing": say("raises, or runs on the CPU with the fallback"),
    "type": say("raises: no such number type"),
    "wrong": say("known to be wrong"),
    "unknown": say("not known"),
}
NOTES = (
    say(
        "A forecast: nothing was run, and no Mac was asked. The trace has shapes and number types, no values."
    ),
    say(
        "Not forecast are speed, memory, limits of one macOS version, and ways that PyTorch's own code takes "
        "on MPS alone, beyond those that are known."
    ),
    say("Operations of other libraries, in C++, Triton or Metal, are not in PyTorch's list."),
)


@page_of.register
def page(forecast: MpsForecast) -> Page:
    """Return the page: the answer, operations that need attention, other versions, and the rest folded."""
    attention = [one for one in forecast.operations if one.judgement not in FINE]
    rest = [one for one in forecast.operations if one.judgement in FINE]
    parts: list[Part] = [*forecast.untraced, *forecast.assumptions]
    if attention:
        parts.append(_operations(attention, say("Needs attention"), hidden=False))
    if any(one.missing for one in forecast.others):
        parts.append(_versions(forecast))
    if rest:
        parts.append(_operations(rest, say("Operations that run on the GPU"), hidden=True))
    return Page(
        tuple(parts),
        (_counted(forecast), *NOTES),
        title=say("{subject}, planned for {target}", subject=forecast.subject, target="MPS"),
        kind="plan",
        headline=headline(forecast),
    )


def _operations(found: list[ForecastOperation], title: Sentence, *, hidden: bool) -> Table:
    columns = (say("operation"), say("count"), say("on MPS"), say("where"), say("how it is known"))
    rows = tuple(
        (
            one.operation,
            f"{one.count:,}",
            JUDGEMENTS[one.judgement],
            _places(one),
            _source(one),
        )
        for one in found
    )
    return Table(columns, rows, (columns[1],), title, most=_ROWS, summary=title if hidden else "")


def _places(one: ForecastOperation) -> str:
    shown = [place(where, code=True) for where in one.places[:_PLACES] if where != CodePlace()]
    more = len(one.places) - _PLACES
    if more > 0:
        shown.append(say("{count} more", count=more))
    return _together(shown)


def _source(one: ForecastOperation) -> str:
    return _together([part for part in (one.source, one.note, one.changes) if part])


def _together(parts: list[str]) -> str:
    return folded(lambda one, other: say("{one}; {other}", one=one, other=other), parts) if parts else ""


def _versions(forecast: MpsForecast) -> Table:
    rows = tuple((one.version, ", ".join(one.missing) or say("none")) for one in forecast.others)
    columns = (say("PyTorch"), say("no kernel for"))
    title = say("In other versions of PyTorch")
    return Table(columns, rows, (), title)


def _counted(forecast: MpsForecast) -> Sentence:
    return say_count(
        "{subject}: {count} operation of {kinds} kinds, looked up in the list of PyTorch {version}.",
        "{subject}: {count} operations of {kinds} kinds, looked up in the list of PyTorch {version}.",
        sum(one.count for one in forecast.operations),
        subject=forecast.subject,
        kinds=forecast.kinds,
        version=forecast.version,
    )
