"""The stage that adds to a record what limited its cell: from samples, a profile, and this machine's roof."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import judge
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.limits.remedies import COMPILES_EACH_TIME
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.runtime import LIMITS_VARIABLE, Runtime
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say

#: Seconds under which a cell is hardly sampled, or not at all.
_TOO_SHORT_S = 0.15
TOO_SHORT = say("The cell was too short to be sampled.")
NOT_LOOKED_AT = say("Cells are not sampled here: {name} is off.", name=LIMITS_VARIABLE)
NOT_SEEN = say("The cell could not be sampled while it ran.")
#: The only kinds of limit that `roofline.placed` gives.
_ROOFS = ("compute", "bandwidth")


def with_limit(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    """Return the record with what limited its cell; a profile's answer and earlier runs are used, too."""
    found = _from_samples(record, activity, runtime)
    if found.mode == "profiled":  # seldom
        from jupyter_mlgpu.explain.limits.profiled import refined

        found = refined(found)
    return _placed(found, runtime)


def with_limit_again(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    """The same, once it is known what the GPUs did; a place under the roof stays."""
    if record.mode == "profiled" or (record.limit is not None and record.limit.kind in _ROOFS):
        return record
    return _from_samples(record, activity, runtime)


def _from_samples(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    if activity is None:
        return _without_samples(record, runtime)
    if record.mode == "light":  # a profiler changes when the thread does what
        from jupyter_mlgpu.measure.activity.timeline import with_lines

        record = replace(record, host_lane=with_lines(activity.lane, activity.lane_lines))
    found = judge.with_limit(record, activity)
    return advised_again(found, runtime.store.runs(found))


def _without_samples(record: Record, runtime: Runtime) -> Record:
    wall = record.reading("wall_time").value
    short = wall is not None and wall < _TOO_SHORT_S
    why = NOT_LOOKED_AT if not runtime.samples_cells else TOO_SHORT if short else NOT_SEEN
    if record.gpu_work and wall and runtime.samples_cells:  # which may tell enough
        record = judge.with_limit(record, Activity(seconds=wall, samples=0, parts=()))
    return record if record.limit is not None else replace(record, why_no_limit=why)


def _placed(record: Record, runtime: Runtime) -> Record:
    """The record with its place under this machine's roof, where its code was profiled, now or before."""
    try:
        runs = runtime.store.runs(record)
        if record.mode == "light" and all(one.mode == "light" for one in runs):
            return record
        from jupyter_mlgpu.explain.limits.roofline import placed
        from jupyter_mlgpu.record import roofs

        return placed(record, runs, roofs.read)
    except Exception as error:  # what a light run had to do is no reason to lose its record
        return record.with_note(
            say("The cell's place under the roof could not be determined ({error}).", error=words(error))
        )


def advised_again(record: Record, runs: Iterable[Record]) -> Record:
    """The record, whose advice is not to run it again where an earlier run of the code compiled as well."""
    if record.limit is None or not _compiled(record):
        return record
    earlier = any(_compiled(one) for one in runs if one.cell.sequence < record.cell.sequence)
    return replace(record, limit=replace(record.limit, next=COMPILES_EACH_TIME)) if earlier else record


def _compiled(record: Record) -> bool:
    return record.limit is not None and record.limit.kind == "compiling" and not is_importing(record.limit)
