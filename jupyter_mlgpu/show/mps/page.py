"""The page of a forecast for a Mac's GPU: its answer, what needs attention, and all operations."""

from __future__ import annotations

from jupyter_mlgpu.graphs.mps.forecast import FINE, ForecastOperation, Judgement, MpsForecast
from jupyter_mlgpu.graphs.mps.traced import Phase
from jupyter_mlgpu.record.sentence import Sentence, folded, say, say_count, with_commas
from jupyter_mlgpu.show.mps.headline import headline, lacking_type, named_places
from jupyter_mlgpu.show.mps.versions import versions
from jupyter_mlgpu.show.page.model import Page, Part, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: Most rows under a cell, and most places in a row. Text output has all rows.
_ROWS, _PLACES = 40, 3

JUDGEMENTS: dict[Judgement, Sentence] = {
    "gpu": say("runs on the GPU"),
    "composite": say("made of other operations"),
    "fallback": say("always runs on the CPU"),
    "missing": say("raises, or runs on the CPU with the fallback"),
    "type": say("raises: refuses this number type or shape"),
    "wrong": say("known to be wrong"),
    "unknown": say("not known"),
}
#: Where an operation is called that no line of the user's calls, and no layer.
_PHASES: dict[Phase, Sentence] = {"backward": say("backward pass"), "optimizer": say("optimizer")}
ON_THE_CPU = say(
    "All tensors are taken to be on the GPU. What turns float64 to float32 on the CPU, as "
    '`torch.from_numpy(array).float().to("mps")` does, raises nothing.'
)
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
    if any(one.judgement == "type" and lacking_type(one) for one in attention):
        parts.append(ON_THE_CPU)
    if attention:
        parts.append(_operations(attention, say("Needs attention"), hidden=False))
    if (compared := versions(forecast)) is not None:
        parts.append(compared)
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
    columns = (
        say("operation"),
        say("count"),
        say("on MPS"),
        say("where"),
        say("how it is known"),
        say("what else is known"),
    )
    rows = tuple(
        (
            one.operation,
            f"{one.count:,}",
            _judgement(one),
            _places(one),
            one.source,
            _together([part for part in (one.note, one.changes) if part]),
        )
        for one in found
    )
    return Table(columns, rows, (columns[1],), title, most=_ROWS, summary=title if hidden else "")


def _judgement(one: ForecastOperation) -> Sentence:
    lacking = lacking_type(one) if one.judgement == "type" else ""
    return say("raises: no {type} on the GPU", type=lacking) if lacking else JUDGEMENTS[one.judgement]


def _places(one: ForecastOperation) -> str:
    places = named_places(one, code=True)
    if not places:
        phases = [_PHASES[phase] for phase in one.phases if phase in _PHASES]
        return with_commas(phases) if phases else ""
    more = [say("{count} more", count=len(places) - _PLACES)] if len(places) > _PLACES else []
    return _together([*places[:_PLACES], *more])


def _together(parts: list[str]) -> str:
    return folded(lambda one, other: say("{one}; {other}", one=one, other=other), parts) if parts else ""


def _counted(forecast: MpsForecast) -> Sentence:
    return say_count(
        "{subject}: {count} operation, looked up in the list of PyTorch {version}.",
        "{subject}: {count} operations, looked up in the list of PyTorch {version}.",
        sum(one.count for one in forecast.operations),
        subject=forecast.subject,
        version=forecast.version,
    )
