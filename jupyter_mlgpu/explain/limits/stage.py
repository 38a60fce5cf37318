"""The stage that adds to a record what limited its cell, from samples, a profile, and this machine's roof."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import judge
from jupyter_mlgpu.explain.limits.limit_sentences import is_importing
from jupyter_mlgpu.explain.limits.remedies import COMPILES_EACH_TIME
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.measure.guarded import words
from jupyter_mlgpu.measure.runtime import LIMITS_VARIABLE, Runtime
from jupyter_mlgpu.record.record import CHECKED, Record
from jupyter_mlgpu.record.sentence import say

#: Cells shorter than this, in seconds, get few samples or none.
_TOO_SHORT_S = 0.15
TOO_SHORT = say("The cell was too short to be sampled.")
NOT_SAMPLED_HERE = say("Cells are not sampled here: {name} is off.", name=LIMITS_VARIABLE)
NOT_SAMPLED = say("The cell could not be sampled while it ran.")
#: The only kinds of limit that `roofline.with_roof` gives.
_ROOFS = ("compute", "bandwidth")


def with_limit(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    """Return the record with what limited its cell. A profile's answer and earlier runs are used, too."""
    if record.mode == "checked":
        return replace(record, why_no_limit=CHECKED)
    found = _from_samples(record, activity, runtime)
    if found.mode == "profiled":  # rare, so imported only here
        from jupyter_mlgpu.explain.limits.profiled import with_trace

        found = with_trace(found)
    return _with_roof(found, runtime)


def with_limit_again(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    """Return the record with its limit judged again with the GPUs' work; a place under the roof stays."""
    if record.mode != "light" or (record.limit is not None and record.limit.kind in _ROOFS):
        return record
    return _from_samples(record, activity, runtime)


def _from_samples(record: Record, activity: Activity | None, runtime: Runtime) -> Record:
    if activity is None:
        return _without_samples(record, runtime)
    found = judge.with_limit(record, activity)
    if record.mode == "light":  # a profiler changes when the thread does what, so its timeline is not kept
        from jupyter_mlgpu.measure.activity.timeline import finished

        limit = None if found.limit is None else found.limit.kind
        found = replace(found, host_lane=finished(activity.lane, activity.lane_lines, limit))
    return with_lasting_advice(found, runtime.store.runs(found))


def _without_samples(record: Record, runtime: Runtime) -> Record:
    wall = record.reading("wall_time").value
    short = wall is not None and wall < _TOO_SHORT_S
    why = NOT_SAMPLED_HERE if not runtime.samples_cells else TOO_SHORT if short else NOT_SAMPLED
    if record.gpu_work and wall and runtime.samples_cells:  # GPU work alone may suffice
        record = judge.with_limit(record, Activity(seconds=wall, samples=0, parts=()))
    return record if record.limit is not None else replace(record, why_no_limit=why)


def _with_roof(record: Record, runtime: Runtime) -> Record:
    """Return the record with its place under this machine's roof if its code was profiled, now or before."""
    try:
        runs = runtime.store.runs(record)
        if record.mode == "light" and all(one.mode == "light" for one in runs):
            return record
        from jupyter_mlgpu.explain.limits.roofline import with_roof
        from jupyter_mlgpu.record import roofs

        return with_roof(record, runs, roofs.read)
    except Exception as error:  # a failure here must not lose the record of the run
        return record.with_note(
            say("The cell's place under the roof could not be determined ({error}).", error=words(error))
        )


def with_lasting_advice(record: Record, runs: Iterable[Record]) -> Record:
    """Return the record without the advice to run it again if an earlier run of the code compiled, too."""
    if record.limit is None or not _compiled(record):
        return record
    earlier = any(_compiled(one) for one in runs if one.cell.sequence < record.cell.sequence)
    return replace(record, limit=replace(record.limit, next=COMPILES_EACH_TIME)) if earlier else record


def _compiled(record: Record) -> bool:
    return record.limit is not None and record.limit.kind == "compiling" and not is_importing(record.limit)
