"""The events of a cell in few bytes, for the sidebar's timeline.

    {"duration": 1200000, "lanes": [["torch", "host", "host", "thread 1"]],
     "names": [["aten::mm", "aten::mm", "op"]],
     "starts": [10, 25], "durations": [400, 30], "name": [0, 0], "lane": [0, 0],
     "events": 2, "left_out": 0, "why_left_out": null, "profilers": ["torch.profiler"]}

Times are whole nanoseconds from the start of the cell's profile. `starts` are differences: each counts from
the start of the event before it, the first from the start of the cell; it is below 0 for what had begun
earlier. The events are in the order of their starts, of those that begin together the longest first. `name`
and `lane` are places in the lists above. `events` is how many the kernel keeps: where that is more than are
here, those that begin last are left out. `left_out` counts what the profiler had seen and the kernel has not
kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import attrgetter
from typing import TypedDict

from jupyter_mlgpu.measure.ops.events import Event, Profile
from jupyter_mlgpu.record.sentence import Sentence

#: Events of one answer; a browser draws as many smoothly.
EVENTS = 50_000

#: Bytes of one answer, as JSON.
BYTES = 1_000_000

#: Characters of a name; a kernel's can fill a page.
_LONGEST = 200


class EventsData(TypedDict):
    """The columns of the events, and the lists that two of them count in."""

    lanes: list[list[str]]
    names: list[list[str]]
    starts: list[int]
    durations: list[int]
    name: list[int]
    lane: list[int]


class TimelineData(EventsData):
    """A timeline as JSON, which a browser reads by hand (labextension/src/record/timeline.ts)."""

    duration: int
    events: int
    left_out: int
    why_left_out: Sentence | str | None
    profilers: list[str]


def compact(profiles: Sequence[Profile], events: int = EVENTS, limit: int = BYTES) -> TimelineData:
    """What the profilers saw of one cell: its first `events`, or fewer, to fit into `limit` bytes."""
    found = [
        (event.start_ns - profile.start_ns, event, profile.framework)
        for profile in profiles
        for event in sorted(profile.events, key=attrgetter("start_ns"))[:events]
    ]
    found.sort(key=lambda one: (one[0], -one[1].duration_ns))
    made = _table(found[:events])
    while (size := len(json.dumps(made, separators=(",", ":")))) > limit and made["starts"]:
        fewer = min(len(made["starts"]) - 1, len(made["starts"]) * limit // size)
        made = _table(found[:fewer])
    reasons = dict.fromkeys(one.why_left_out for one in profiles if one.why_left_out)
    return {
        "duration": max((one.end_ns - one.start_ns for one in profiles), default=0),
        **made,
        "events": sum(len(one.events) for one in profiles),
        "left_out": sum(map(attrgetter("left_out"), profiles)),
        "why_left_out": "; ".join(reasons) or None,
        "profilers": list(dict.fromkeys(one.profiler for one in profiles)),
    }


def _table(found: Sequence[tuple[int, Event, str]]) -> EventsData:
    lanes: dict[tuple[str, ...], int] = {}
    names: dict[tuple[str, ...], int] = {}
    starts, durations, name, lane = [], [], [], []
    before = 0
    for start, event, framework in found:
        starts.append(start - before)
        before = start
        durations.append(event.duration_ns)
        name.append(names.setdefault((event.name, event.type, event.kind), len(names)))
        lane.append(lanes.setdefault((framework, event.plane, event.device, event.line), len(lanes)))
    return {
        "lanes": [[_short(part) for part in one] for one in lanes],
        "names": [[_short(part) for part in one] for one in names],
        "starts": starts,
        "durations": durations,
        "name": name,
        "lane": lane,
    }


def _short(text: str) -> str:
    # Half of a surrogate pair, as a name may hold, is no UTF-8.
    return text[:_LONGEST].encode(errors="replace").decode()
