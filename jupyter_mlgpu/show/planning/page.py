"""The page of a plan: its answer, its picture, the fallbacks, and notes on the figures."""

from __future__ import annotations

from dataclasses import replace

from jupyter_mlgpu.graphs.planning.forecast import Plan
from jupyter_mlgpu.record.sentence import Field, Sentence, say, say_count
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.page.rendering import page_of
from jupyter_mlgpu.show.planning import drawing, live
from jupyter_mlgpu.show.planning.headline import headline

FORECAST = say("A forecast: nothing was run, and graph optimizers may still decide otherwise.")

#: Most rows under a cell. Text output has all.
_ROWS = 40
#: Most sizes of subgraphs in a sentence.
_SIZES = 12


@page_of.register
def page(plan: Plan) -> Page:
    """Return the page: answer, picture, subgraphs and copies, and folded tables of these and of fallbacks."""
    drawn = drawing.picture(plan.graph, plan.placements, plan.groups, plan.target)
    picture = replace(drawn, live=lambda: live.graph(plan))
    return Page(
        (picture, _subgraphs(plan), _copied(plan), FORECAST, _fallbacks(plan)),
        (_head(plan), _counted(plan), *plan.notes, *plan.sources),
        details=(_subgraph_table(plan), _crossings(plan)),
        title=say("{subject}, planned for {target}", subject=plan.subject, target=plan.target.title),
        kind="plan",
        headline=headline(plan),
    )


def _fallbacks(plan: Plan) -> Table:
    rows = tuple((one.operation, f"{one.count:,}", one.reason) for one in plan.fallbacks)
    columns = (say("operation"), say("count"), say("why on the CPU"))
    caption = say("Falls back to the CPU")
    return Table(columns, rows, figures=("count",), caption=caption, most=_ROWS, summary=caption)


def _subgraph_table(plan: Plan) -> Table:
    rows = ((live.name(one.function), f"{one.operations:,}", f"{one.own:,}") for one in plan.subgraphs)
    columns = (say("function"), say("operations"), say("with the target's own kernel"))
    return Table(columns, tuple(rows), figures=columns[1:], summary=say("Subgraphs on the device"))


def _crossings(plan: Plan) -> Table:
    """Return a table of the copied tensors, the largest first."""
    rows = (
        (
            f"{live.name(one.tensor)} ({one.type})",
            say("host") if one.to == "host" else say("device"),
            (one.why_missing or "") if one.bytes is None else f"{one.bytes:,}",
        )
        for one in sorted(plan.crossings, key=lambda one: -(one.bytes or 0))
    )
    columns = (say("tensor"), say("copied to"), say("bytes"))
    return Table(columns, tuple(rows), summary=say("Copied between host and device"))


def _head(plan: Plan) -> Sentence:
    """Return what was planned and with which table of kernels, as a sentence."""
    return say_count(
        "{subject}: {count} operation, planned for {target} using {table}.",
        "{subject}: {count} operations, planned for {target} using {table}.",
        len(plan.placements),
        subject=plan.subject,
        target=plan.target.title,
        table=plan.target.own.title,
    )


def _counted(plan: Plan) -> Sentence:
    counts = plan.counts
    fields: dict[str, Field] = {
        "own": counts[plan.target.where],
        "target": plan.target.title,
        "noun": plan.target.noun,
        "others": counts["core"] + counts["default"],
        "shared": plan.target.shared,
        "cpu": counts["cpu"],
    }
    if counts["beside"]:
        return say(
            "{own} have a {target} {noun}, {others} {shared}, and {cpu} would fall back to "
            "the CPU, where {beside} more would run beside them.",
            **fields,
            beside=counts["beside"],
        )
    return say(
        "{own} have a {target} {noun}, {others} {shared}, and {cpu} would fall back to the CPU.", **fields
    )


def _subgraphs(plan: Plan) -> Sentence:
    found = plan.subgraphs
    if not found:
        return say("No subgraph would run on the device.")
    sizes = ", ".join(f"{one.operations:,}" for one in found[:_SIZES])
    if len(found) == 1:
        return say_count(
            "1 device subgraph, of {count} operation.",
            "1 device subgraph, of {count} operations.",
            found[0].operations,
        )
    if len(found) > _SIZES:
        more = len(found) - _SIZES
        sizes = say("{sizes} operations and {more} smaller ones", sizes=sizes, more=more)
    else:
        sizes = say("{sizes} operations", sizes=sizes)
    return say(
        "{count} device subgraphs, of {sizes}; fewer, larger subgraphs run better.",
        count=len(found),
        sizes=sizes,
    )


def _copied(plan: Plan) -> Sentence:
    if not plan.crossings:
        return say("Within it, no tensor would be copied between host and device.")
    known = len(plan.crossings) - len(plan.unknown_sizes)
    copied = say_count(
        "{bytes} bytes in {count} tensor would be copied between host and device",
        "{bytes} bytes in {count} tensors would be copied between host and device",
        known,
        bytes=plan.known_bytes,
    )
    if not plan.unknown_sizes:
        return say("{copied}.", copied=copied)
    reasons = list(dict.fromkeys(one.why_missing for one in plan.unknown_sizes))
    return say(
        "{copied}, and {more} more of unknown size: {reasons}.",
        copied=copied,
        more=len(plan.unknown_sizes),
        reasons=reasons[0] if len(reasons) == 1 else "; ".join(reasons),
    )
