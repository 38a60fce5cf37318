"""The plan in sentences and as an HTML table; whatever comes from the graph is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jupyter_mlgpu.markup import bullets, element

if TYPE_CHECKING:
    from jupyter_mlgpu.planning.forecast import Plan

_SHOWN_ROWS = 40


def sentences(plan: Plan) -> list[str]:
    """What the plan says, a line each."""
    counts, title = plan.counts, plan.target.title
    total = len(plan.placements)
    head = f"{plan.subject}: {_number(total, 'operation')}, planned for {title} by {plan.target.own.title}."
    own = f"{counts[plan.target.where]:,} have a {title} {plan.target.noun}"
    shared = f", {counts['core'] + counts['default']:,} {plan.target.shared}"
    beside = f", where {counts['beside']:,} more would run beside them" if counts["beside"] else ""
    rest = f", {counts['cpu']:,} would fall back to the CPU{beside}."
    return [head, own + shared + rest, _subgraphs(plan), _copied(plan)]


def _subgraphs(plan: Plan) -> str:
    found = plan.subgraphs
    if not found:
        return "No subgraph would run on the device."
    sizes = ", ".join(f"{one.operations:,}" for one in found[:12])
    more = f" and {len(found) - 12:,} smaller ones" if len(found) > 12 else ""
    few = "; fewer and larger ones run better" if len(found) > 1 else ""
    return f"{_number(len(found), 'device subgraph')}, of {sizes} operations{more}{few}."


def _copied(plan: Plan) -> str:
    if not plan.crossings:
        return "No tensor would be copied between the host and the device inside it."
    known = len(plan.crossings) - len(plan.unknown_sizes)
    text = f"{plan.known_bytes:,} bytes in {_number(known, 'tensor')} would be copied between host and device"
    if not plan.unknown_sizes:
        return text + "."
    reasons = "; ".join(dict.fromkeys(one.why_missing for one in plan.unknown_sizes))
    return f"{text}, and {len(plan.unknown_sizes):,} more whose size is not known: {reasons}."


def html(plan: Plan) -> str:
    """The sentences, a table of the fallbacks, and what the figures do not say."""
    right, left = "text-align:right", "text-align:left"
    rows = [
        element(
            "tr",
            element("td", one.operation),
            element("td", f"{one.count:,}", style=right),
            element("td", one.reason, style=left),
        )
        for one in plan.fallbacks[:_SHOWN_ROWS]
    ]
    more = len(plan.fallbacks) - len(rows)
    if more > 0:
        rows.append(element("tr", element("td", f"{more:,} more reasons are in summary().", colspan=3)))
    titles = [element("th", one) for one in ("operation", "count", "why on the CPU")]
    head = element("thead", element("tr", *titles))
    return str(
        element(
            "div",
            *(element("p", line) for line in sentences(plan)),
            element("table", head, element("tbody", *rows)) if rows else None,
            element("small", bullets([*plan.notes, *plan.sources])),
        )
    )


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
