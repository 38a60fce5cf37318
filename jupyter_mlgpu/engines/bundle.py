"""A collection as a notebook stores it for our own view: figures and the records' places, bounded.

The browser's side of the same contract is labextension/src/engines.ts. Times are seconds, those of the
timeline whole nanoseconds; None is what is not known.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.engines import lanes
from jupyter_mlgpu.engines.collection import CLOCK, Collection, Placed, busy_ns, state
from jupyter_mlgpu.record import Record

MIME_TYPE = "application/vnd.jupyter-mlgpu.engines+json"

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

#: Engines in the table, sentences, characters of a sentence and of a name. The table says what is left out.
ENGINES, SENTENCES = 64, 40
_SENTENCE, _NAME = 600, 120


def data(found: Collection) -> dict[str, Any]:
    """The collection as JSON-ready data for the browser."""
    phases = {one.engine: one for one in found.phases}
    engines = []
    for one in found.engines[:ENGINES]:
        mine = [placed for placed in found.timeline if placed.engine == one.engine]
        of_it = phases.get(one.engine)
        engines.append(
            {
                "engine": one.engine,
                "machine": one.host,
                "here": found.here(one),
                "state": state(one),
                "records": len(one.records),
                "busy": busy_ns(mine) / 1e9 if mine else None,
                "offset": None if one.offset is None else one.offset.ns / 1e9,
                "uncertainty": None if one.offset is None else one.offset.uncertainty_ns / 1e9,
                "round_trips": 0 if one.offset is None else one.offset.round_trips,
                "compute": None if of_it is None or not of_it.computes else of_it.compute_ns / 1e9,
                "communicate": None if of_it is None or not of_it.exchanges else of_it.communicate_ns / 1e9,
                "waiting": None if of_it is None or of_it.waiting_ns is None else of_it.waiting_ns / 1e9,
                "waiting_uncertainty": None if of_it is None else of_it.unsure_ns / 1e9,
            }
        )
    sentences = found.sentences
    cut = {"engines": len(found.engines) - ENGINES, "notes": len(sentences) - SENTENCES}
    return {
        "schema": SCHEMA,
        "sentences": [_short(one, _SENTENCE) for one in sentences[:SENTENCES]],
        "clock": CLOCK,
        "engines": engines,
        "records": len(found),
        "timeline": _timeline(found),
        "cut": {part: count for part, count in cut.items() if count > 0},
    }


def _timeline(found: Collection) -> dict[str, Any]:
    """As `exporting/compact.py` describes it, a lane an engine; the longest records, as in the picture."""
    numbers = {one.engine: place for place, one in enumerate(found.engines[:ENGINES])}
    there = [one for one in found.timeline if one.engine in numbers]
    longest = sorted(there, key=lambda one: one.start_ns - one.end_ns)[: lanes.MOST]
    drawn: list[Placed] = sorted(longest, key=lambda one: (one.start_ns, -one.end_ns))
    names: dict[tuple[str, str, str], int] = {}
    starts, before = [], 0
    for one in drawn:
        starts.append(one.start_ns - before)
        before = one.start_ns
    return {
        "duration": max((one.end_ns for one in drawn), default=0),
        "lanes": [["", "host", "", str(engine)] for engine in numbers],
        "starts": starts,
        "durations": [one.end_ns - one.start_ns for one in drawn],
        "name": [names.setdefault(_name(one.record), len(names)) for one in drawn],
        "lane": [numbers[one.engine] for one in drawn],
        "names": [list(one) for one in names],
        "events": len(drawn),
    }


def _name(record: Record) -> tuple[str, str, str]:
    partial = record.reading("wall_time").value is None
    kind = "partial" if partial else "" if record.outcome == "ok" else record.outcome
    return _short(record.cell.name, _NAME), "", kind


def _short(text: str, most: int) -> str:
    # Half of a surrogate pair, as a name may hold, is no UTF-8.
    text = text if len(text) <= most else text[: most - 1] + "…"
    return text.encode(errors="replace").decode()
