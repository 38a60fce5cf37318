"""The page of a collection: a picture with a lane an engine, what each told, and how far to trust it."""

from __future__ import annotations

from jupyter_mlgpu.explain.engines.collection import CLOCK, Collection, busy_ns, state
from jupyter_mlgpu.explain.engines.phases import Phases
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.sentence import Sentence, say, say_count
from jupyter_mlgpu.show.engines import lanes, live
from jupyter_mlgpu.show.engines.headline import headline
from jupyter_mlgpu.show.page.model import Page, Picture, Table
from jupyter_mlgpu.show.page.rendering import page_of

#: What stands above the tables.
TOLD, APART = say("What each engine reported"), say("Computing and communicating separately")


@page_of.register
def page(found: Collection) -> Page:
    """Who was slowest, its picture, what is missing, and folded its tables; without phases, one table."""
    said = head(found)
    drawing = lanes.draw(found.timeline, [one.engine for one in found.engines], said)
    picture = Picture(drawing, said, lambda: live.timeline(found))
    tables = (engines_table(found), phases_table(found))
    return Page(
        (picture, *_not_drawn(found), *found.sentences, *tables),
        (CLOCK,),
        title=said,
        kind="engines",
        headline=headline(found),
    )


def _not_drawn(found: Collection) -> list[Sentence]:
    """What the picture has no room for."""
    said = []
    if len(found) > lanes.MOST:
        told = {"most": lanes.MOST, "count": len(found)}
        said.append(say("The {most} longest of {count} records are drawn.", **told))
    if len(found.engines) > live.ENGINES:
        said.append(say("The first {most} engines are drawn.", most=live.ENGINES))
    return said


def head(found: Collection) -> Sentence:
    """How much was collected; a collection that lacks an engine says so first."""
    told = sum(1 for one in found.engines if one.why is None)
    records = say_count("{count} record", "{count} records", len(found))
    engines = say_count("{count} engine", "{count} engines", len(found.engines))
    end = units.seconds(max((one.end_ns for one in found.timeline), default=0) / 1e9)
    if found.partial:
        return say(
            "Partial: {told} of {engines} answered; {records}, {time} in total.",
            told=told,
            engines=engines,
            records=records,
            time=end,
        )
    return say("{records} from {engines}, {time} in total.", records=records, engines=engines, time=end)


def engines_table(found: Collection) -> Table:
    """A row an engine, also for one that told nothing."""
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
    """A row an engine that has blocks named compute or communicate."""
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
    said = units.seconds(one.waiting_ns / 1e9)
    return f"{said} ± {units.seconds(one.unsure_ns / 1e9)}" if one.unsure_ns else said
