"""The plan in sentences and as an HTML table; whatever comes from the graph is escaped."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

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
    rows = [
        f"<tr><td>{escape(one.operation)}</td><td style='text-align:right'>{one.count:,}</td>"
        f"<td style='text-align:left'>{escape(one.reason)}</td></tr>"
        for one in plan.fallbacks[:_SHOWN_ROWS]
    ]
    left = len(plan.fallbacks) - len(rows)
    if left > 0:
        rows.append(f"<tr><td colspan='3'>{left:,} more reasons are in summary().</td></tr>")
    table = (
        "<table><thead><tr><th>operation</th><th>count</th><th>why on the CPU</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
        if rows
        else ""
    )
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in sentences(plan))
    notes = "".join(f"<li>{escape(note)}</li>" for note in plan.notes)
    tables = "".join(f"<li>{escape(source)}</li>" for source in plan.sources)
    return f"<div>{paragraphs}{table}<small><ul>{notes}{tables}</ul></small></div>"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
