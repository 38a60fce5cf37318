"""The lanes of a collection as a notebook keeps them for our own view, which draws them as a timeline.

Its form is that of a cell's timeline (`show/exporting/compact.py`); times are whole nanoseconds.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.explain.engines.collection import Collection, Placed, state
from jupyter_mlgpu.explain.engines.query import EngineReport
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.engines import lanes
from jupyter_mlgpu.show.page.model import Live
from jupyter_mlgpu.show.page.view import cut

#: Engines with a lane (the browser reads no more), and characters of a name.
ENGINES = 256
_NAME = 120


def timeline(found: Collection) -> Live:
    """A lane an engine on one clock, also for those without a record."""
    return Live(
        "timeline",
        {"timeline": _timeline(found), "names": [_lane(one) for one in found.engines[:ENGINES]]},
    )


def _lane(one: EngineReport) -> Sentence:
    """An engine's name; of one that is not there, with the word for it."""
    name = say("engine {engine}", engine=str(one.engine))
    return name if one.why is None else say("{name}: {state}", name=name, state=state(one))


def _timeline(found: Collection) -> dict[str, Any]:
    """As `show/exporting/compact.py` has it, a lane an engine; the longest records, as in the picture."""
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
    return cut(record.cell.name, _NAME), "", kind
