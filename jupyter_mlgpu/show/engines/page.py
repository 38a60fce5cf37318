"""The page of a collection: a chart with a row per engine, the engines' reports, the clocks' precision."""

from __future__ import annotations

from jupyter_mlgpu.explain.engines.collection import Collection, busy_ns, state
from jupyter_mlgpu.explain.engines.phases import Phases
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say, say_count
from jupyter_mlgpu.show.engines.chart import chart, not_drawn
from jupyter_mlgpu.show.engines.headline import headline
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: Captions of the tables.
TOLD, APART = say("What each engine reported"), say("Computing and communicating separately")
RECORDS = say("The records in order")


@page_of.register
def page(found: Collection) -> Page:
    """Return the page: the slowest engine, the chart, missing data and folded tables.

    Without phases there is no table of phases.
    """
    summary = head(found)
    tables = (engines_table(found), phases_table(found))
    return Page(
        (summary, *not_drawn(found), *found.sentences, *tables),
        (found.clock,),
        charts=(chart(found, summary),),
        details=(records_table(found),),
        title=summary,
        kind="engines",
        headline=headline(found),
    )


def head(found: Collection) -> Sentence:
    """Return the size of the collection as a sentence, which begins with a remark if an engine is missing."""
    answered = sum(1 for one in found.engines if one.why is None)
    records = say_count("{count} record", "{count} records", len(found))
    engines = say_count("{count} engine", "{count} engines", len(found.engines))
    end = units.seconds(max((one.end_ns for one in found.timeline), default=0) / 1e9)
    if found.partial:
        return say(
            "Partial: {told} of {engines} answered; {records}, {time} in total.",
            told=answered,
            engines=engines,
            records=records,
            time=end,
        )
    return say("{records} from {engines}, {time} in total.", records=records, engines=engines, time=end)


def engines_table(found: Collection) -> Table:
    """Return a table with a row per engine, including engines that reported nothing."""
    rows = []
    for one in found.engines:
        mine = [placed for placed in found.timeline if placed.engine == one.engine]
        machine = (
            say("not known") if one.host is None else say("this machine") if found.here(one) else one.host
        )
        busy = units.seconds(busy_ns(mine) / 1e9) if mine else ""
        rows.append((str(one.engine), machine, f"{len(one.records):,}", busy, _clock(one), state(one)))
    columns = (
        say("engine"),
        say("runs on"),
        say("records"),
        say("busy"),
        say("clock offset from ours"),
        say("state"),
    )
    return Table(columns, tuple(rows), figures=("records",), caption=TOLD, summary=TOLD)


def phases_table(found: Collection) -> Table:
    """Return a table with a row per engine that has blocks named compute or communicate."""
    rows = (
        (
            str(one.engine),
            units.seconds(one.compute_ns / 1e9) if one.computes else "",
            units.seconds(one.communicate_ns / 1e9) if one.exchanges else "",
            _waiting(one),
        )
        for one in found.phases
    )
    columns = (say("engine"), say("compute"), say("communicate"), say("of that, waiting"))
    return Table(columns, tuple(rows), caption=APART, summary=APART)


def records_table(found: Collection) -> Table:
    """Return a table with a row per record, in the order of their starts."""
    rows = (
        (
            str(one.engine),
            one.record.cell.name,
            units.seconds(one.start_ns / 1e9),
            units.seconds((one.end_ns - one.start_ns) / 1e9),
        )
        for one in found.timeline
    )
    columns = (say("engine"), say("record"), say("starts"), say("takes"))
    return Table(columns, tuple(rows), caption=RECORDS, summary=RECORDS)


def _clock(one: EngineReport) -> str:
    if one.offset is None:
        return say("not known")
    if one.offset.round_trips == 0:
        return say("the same clock")
    ahead, unsure = one.offset.ns / 1e9, one.offset.uncertainty_ns / 1e9
    return f"{'+' if ahead >= 0 else '-'}{units.seconds(abs(ahead))} ± {units.seconds(unsure)}"


def _waiting(one: Phases) -> str:
    if not one.exchanges:
        return ""
    if one.waiting_ns is None:
        return say("not known")
    waiting = units.seconds(one.waiting_ns / 1e9)
    return f"{waiting} ± {units.seconds(one.unsure_ns / 1e9)}" if one.unsure_ns else waiting
