"""Makes JSON of records, limits, comparisons and log lines for an answer: bounded, and quoted.

A file may be a stranger's, written to be read by an assistant. What it says is taken over in three ways only:
as a number, as a word of a fixed list, or as a table with `untrusted_text`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jupyter_mlgpu.explain.comparing.compare import Change
from jupyter_mlgpu.explain.limits.kinds import IMPORTING, KINDS
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.logs.catalogue import VERDICTS, Catalogue
from jupyter_mlgpu.explain.logs.template import placeholders
from jupyter_mlgpu.record.limit import HotLine, Limit
from jupyter_mlgpu.record.quantities import KNOWN
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.record.redact import beginning, shorten
from jupyter_mlgpu.record.visible import visible, visible_line

Form = dict[str, Any]

#: Most characters of a quoted text and of a short one, most items of a list, and most of a cell's notes.
TEXT, NAME, ITEMS, NOTES = 300, 40, 30, 5
#: A record's words for confidence, and those of all answers.
CONFIDENCE: Mapping[str, str] = {"sure": "certain", "open": "unclear"}
_UNITS = {one.unit for one in KNOWN.values()} | {"launches"}


def quoted(text: object, most: int = TEXT) -> Form | None:
    """Return the beginning of a text from a file, redacted, with invisible characters escaped."""
    return None if text is None else {"untrusted_text": visible(beginning(str(text), most))}


def name(text: str) -> str:
    """Return a cell's name in one short line."""
    return shorten(visible_line(text), NAME)


def figures(readings: Iterable[Reading]) -> Form:
    """Return the readings with a value, and the others by reason; a quantity unknown here is left out."""
    known = [one for one in readings if one.quantity in KNOWN and one.unit == KNOWN[one.quantity].unit]
    reasons: dict[str, list[str]] = {}
    for one in known:
        if one.value is None:
            reasons.setdefault(str(one.why_missing), []).append(one.quantity)
    measured = [
        {
            "quantity": one.quantity,
            "value": one.value,
            "unit": one.unit,
            "scope": one.scope,
            "source": one.source,
            "samples": one.samples,
            "uncertainty": one.uncertainty,
            "device": quoted(one.device, NAME),
        }
        for one in known
        if one.value is not None
    ]
    missing = [{"value": None, "quantities": what, "why": quoted(why)} for why, what in reasons.items()]
    return {"figures": measured[:ITEMS], "not_measured": missing[:ITEMS]}


def cell(record: Record, called: str, catalogue: Catalogue) -> Form:
    """Return a record as the receipt named `called`."""
    return {
        "name": name(called),
        "title": quoted(record.cell.name),
        "outcome": record.outcome,
        "mode": record.mode,
        "origin": record.origin,
        "started_at": record.started_at,
        **figures(record.readings),
        "ran_on": None if record.device.ran_on is None else _ran_on(record),
        "limit": limit(record.limit),
        "why_no_limit": quoted(record.why_no_limit),
        "messages": [message(one, catalogue) for one in worst_first(record.logs)[:NOTES]],
        "notes": [quoted(note) for note in record.notes[:NOTES]],
    }


def _ran_on(record: Record) -> list[Form]:
    return [
        {
            "device": quoted(one.device, NAME),
            "framework": quoted(one.framework, NAME),
            "share_of_operations": one.share,
            "evidence": one.evidence,
        }
        for one in (record.device.ran_on or ())[:ITEMS]
    ]


def limit(found: Limit | None) -> Form | None:
    """Return what limited a cell, with its evidence. The meaning is ours, the sentences are the file's."""
    if found is None:
        return None
    return {
        "kind": found.kind,
        "meaning": str(IMPORTING.meaning if is_importing(found) else KINDS[found.kind].meaning),
        "confidence": CONFIDENCE.get(found.confidence, found.confidence),
        "share_of_wall_time": found.share,
        "said": quoted(found.said),
        "next": quoted(found.next),
        "bound": quoted(found.bound),
        "parts": None if found.parts is None else dict(found.parts),
        "evidence": figures(found.evidence),
    }


def line(one: HotLine) -> Form:
    """Return a line of the cell's code with its share of the stack samples and the 95 % interval."""
    numbers = {"line": one.line, "samples": one.samples, "share": one.share, "low": one.low, "high": one.high}
    return {**numbers, "calls": quoted(one.calls)}


def message(one: LogLine, catalogue: Catalogue) -> Form:
    """Return a log message. Of a known one, meaning and advice are the catalogue's, not the file's."""
    definition = catalogue.definitions.get(one.id or "")
    said = {"count": one.count, "text": quoted(one.text)}
    if definition is None:
        return {"verdict": "unknown", **said}
    words = definition.tables["en"]
    named = placeholders(words["meaning"]) | placeholders(words["advice"])
    return {
        "id": definition.id,
        "verdict": definition.verdict,
        "meaning": words["meaning"],
        "advice": words["advice"],
        "fields": {word: quoted(one.fields[word], NAME) for word in sorted(named) if word in one.fields},
        **said,
    }


def worst_first(lines: Iterable[LogLine]) -> list[LogLine]:
    """Return log lines by verdict, the worst first."""
    order = [*VERDICTS, "unknown"]
    return sorted(lines, key=lambda one: order.index(one.verdict))


def change(one: Change) -> Form:
    """Return a quantity on both sides, with the interval of its ratio or the reason why there is none."""
    return {
        "what": quoted(one.what),
        "unit": one.unit if one.unit in _UNITS else None,
        "finding": one.finding,
        "runs": [len(side.values) for side in (one.first, one.second)],
        "medians": [side.median if side.values else None for side in (one.first, one.second)],
        "ratio": one.times,
        "interval_95": None if one.ratio is None else [one.ratio.low, one.ratio.high],
        "why_no_interval": quoted(one.why_not),
    }
