"""Judge what limited a cell: the cause that took most of its time, by samples, counters and records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import (
    calls,
    evidence,
    limit_sentences,
    measured,
    own_work,
    remedies,
    shares,
)
from jupyter_mlgpu.explain.limits.confidence import LIKELY, OPEN, OTHERS, confidence, others
from jupyter_mlgpu.explain.limits.lines import hot_lines
from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.shares import Cause, Shares, kind_of
from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part
from jupyter_mlgpu.record.limit import Limit
from jupyter_mlgpu.record.reading import Reading, new_reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say, say_count

#: Fewer samples than this give no answer.
FEWEST = 3
#: The least share of the time lost to other programs or to a memory shortage that counts.
_LOST = 0.05
#: Major page faults per second below which the process itself was not short of memory. At 8 ms each on a
#: rotating disk, six of them are `_LOST` of the time.
_FAULTS = 5
#: Allocator retries, per cell and per second, that show a memory shortage.
_RETRIES = 2

PROFILED = say("A profiler or debugger was active in this cell, so its times do not show what limits it.")


def with_limit(record: Record, activity: Activity) -> Record:
    """Return the record with its limit and hot lines, or with the reason why the limit is not known."""
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    own = own_work.of(record)
    # Three things are known without samples: time in which no sample could be taken, measured compile time,
    # and recorded GPU work.
    known = max(activity.unsampled, activity.compile_time or 0.0) / max(activity.seconds, 1e-9)
    if own is not None:
        known = max(known, own.computing, own.copying)
    if activity.samples < FEWEST and known < LIKELY:
        why = say_count(
            "The cell was sampled only once, which is not enough to judge.",
            "The cell was sampled {count} times, which is not enough to judge.",
            activity.samples,
        )
        return replace(record, limit=None, why_no_limit=why)
    activity = _in_the_cell(activity, record.cell.execution_count)
    on_gpu = _on_gpu(record, own)
    framework_worked = bool(record.device.ran_on)
    found = shares.of(activity, framework_worked=framework_worked, on_gpu=on_gpu)
    device = measured.gpu(found, activity) if on_gpu and own is None else None
    _count_preparation(found, activity)
    if own is not None:
        own_work.share_out(found, own)
    measured.compiling(found, activity)
    _count_disturbances(found, activity)
    time = _CellTime(record, found, activity, own, on_gpu)
    seconds = own.seconds if own is not None else float(record.reading("wall_time").value or 0)
    limit = time.limit(device, seconds)
    return replace(record, limit=limit, why_no_limit=None, lines=hot_lines(activity))


def _in_the_cell(activity: Activity, number: int | None) -> Activity:
    """Return the activity with lines that name another cell but not this one, and no file."""

    def without_this_cell(part: Part) -> Part:
        if part.line is None:
            return part
        cell = None if part.line.cell == number else part.line.cell
        return replace(part, line=Line(part.line.number, cell))

    return replace(
        activity,
        parts=tuple(map(without_this_cell, activity.parts)),
        unsampled_in=tuple(map(without_this_cell, activity.unsampled_in)),
    )


@dataclass(frozen=True, slots=True)
class _CellTime:
    """The time of a cell, divided by cause, with everything needed to state its limit."""

    record: Record
    shares: Shares
    activity: Activity
    own: OwnWork | None
    on_gpu: bool

    def limit(self, device: str | None, seconds: float) -> Limit:
        """Return the limit: the cause that took most of the time.

        `device` is the GPU that worked most of the time according to the driver, `seconds` the time of the
        cell.
        """
        found, activity, own = self.shares, self.activity, self.own
        cause: Cause = max(found.by_kind, key=lambda one: found.by_kind[one], default="unknown")
        if found.share(cause) < OPEN:
            cause = "unknown"
        value, parts = found.share(cause), found.parts[cause]
        supporting = tuple(evidence.readings(cause, value, parts, found, activity, own))
        if (short := _short_of_memory(activity, supporting, self.record)) is not None:
            return short
        if cause == "device" and activity.gpus and own is None and _may_work_for_others(activity):
            worked = min(1.0, value + found.share("contention"))
            sentence = limit_sentences.shared_gpu(
                device or next(iter(activity.gpus)), worked, found.samples, parts
            )
            return Limit("unknown", "open", sentence, None, supporting, remedies.WITHOUT_NEIGHBOURS)
        native = cause == "python" and _may_be_native(
            parts, seen=bool(activity.parts), worked=bool(self.record.device.ran_on)
        )
        sure = "open" if native else confidence(cause, found, activity, own, on_gpu=self.on_gpu)
        mixed = cause == "unknown" or value < LIKELY or (sure == "open" and _others_took_much(found, cause))
        shared = evidence.mixture(found) if mixed else {}
        samples = None if found.exact == cause else found.samples
        waited = own is not None and cause == "device" and samples is not None
        name = device if own is None else own.device[0]
        sentence = limit_sentences.sentence("gpu" if waited else cause, value, samples, parts, name)
        limit = Limit(
            kind=kind_of(cause),
            confidence=sure,
            said=limit_sentences.mixed(shared, found.samples) if mixed else sentence,
            share=None if cause == "unknown" else round(value, 4),
            evidence=supporting,
            next=remedies.WITHOUT_NEIGHBOURS
            if activity.gpu_neighbours and sure == "open" and cause == "device"
            else remedies.remedy("unknown" if native else cause, self.record, parts),
            parts=evidence.by_kind(shared) or None,
        )
        left = evidence.at_least(cause, value, found, own, seconds)
        if left is None or sure == "open":
            return limit
        without = new_reading("time_without", round(left, 6), "cell", "samples", found.samples)
        return replace(limit, bound=limit_sentences.bound(seconds, left), evidence=(*supporting, without))


def _others_took_much(found: Shares, cause: Cause) -> bool:
    """Return True if other programs used the processors or the GPU for at least about a third of the time."""
    return cause != "contention" and found.share("contention") >= OPEN


def _may_work_for_others(activity: Activity) -> bool:
    """Return True if the GPU may have worked for other programs as well as for this cell.

    Either the driver does not tell, or others used much of it, and few samples of the driver's say how much.
    """
    if activity.gpu_others is None:
        return bool(activity.gpu_neighbours)
    return activity.gpu_others >= OTHERS


def _on_gpu(record: Record, own: OwnWork | None) -> bool:
    if own is not None and (own.launches or own.earlier):
        return True
    ran = any(one.kind != "cpu" for one in record.device.ran_on or ())
    return ran or any(one.plane == "device" for one in record.ops)


def _count_preparation(found: Shares, activity: Activity) -> None:
    """Move time to `compiling` that no stack shows: a compiler in a child process, and first runs.

    XLA compiles a graph when it first runs, which takes longer than running it once. Other graphs are
    optimized when they first run, and their kernels are generated. That takes about as long as tracing, which
    the framework's own clock measures better than samples.
    """
    waited = sum(part.seconds for part in found.parts["waiting"] if calls.brings_values(part.call))
    if waited and activity.compiled != 0 and (activity.children_time or 0.0) > 0.5 * waited:
        found.move("waiting", "compiling", lambda part: calls.brings_values(part.call))
    if activity.first_runs and found.by_kind["device"]:
        compiled = min(1.0, activity.first_runs / activity.seconds * found.seconds / found.by_kind["device"])
        found.move("device", "compiling", lambda part: part.doing is None, compiled)
        return
    traced = [part for part in found.parts["compiling"] if part.doing == "compiling"]
    seconds = max(sum(part.seconds for part in traced), activity.compile_time or 0.0)
    if traced and seconds >= 0.5 * found.by_kind["device"] > 0:
        lines = {part.line for part in traced}
        found.move("device", "compiling", lambda part: part.line in lines)


def _may_be_native(parts: Sequence[Part], *, seen: bool, worked: bool) -> bool:
    """Return True if what looks like Python may be native code of an array library.

    A profile would tell. Such code may hold the GIL, or release it for so short a time that no other thread
    gets it. This is assumed if the parts were mostly at array operations, or, if nothing was `seen`, if a
    framework `worked`.
    """
    if not seen:
        return worked
    at = sum(part.seconds for part in parts if calls.of_arrays(part))
    return at > 0.5 * sum(part.seconds for part in parts)


def _count_disturbances(found: Shares, activity: Activity) -> None:
    """Count the time lost to other programs or to a memory shortage, taken from the other causes."""
    if others(activity) >= OTHERS:
        # A thread that waits for others of its process does not wait for a processor, but these others do.
        waited = sum(part.seconds for part in found.parts["device"] if part.state == "idle beside others")
        waits, worked = activity.processor_waits or 0.0, activity.process_time or 0.0
        lost = (activity.processor_wait or 0.0) / activity.seconds
        lost += waited / found.seconds * (waits / (waits + worked) if waits else 0.0)
        if lost > _LOST:
            found.take("contention", min(lost, 1.0), but="waiting")
    if (activity.gpu_others or 0.0) >= OTHERS and found.by_kind["device"] > 0:
        found.take("contention", found.share("device") * (activity.gpu_others or 0.0), but="waiting")
    # The kernel counts stalls of all programs: another one may be swapping.
    own = activity.major_faults is None or activity.major_faults >= _FAULTS * activity.seconds
    stalled = (activity.memory_stall or 0.0) / activity.seconds if activity.swapped and own else 0.0
    if stalled > _LOST:
        found.take("memory", min(stalled, 1.0), but="waiting")


def _short_of_memory(activity: Activity, evidence: tuple[Reading, ...], record: Record) -> Limit | None:
    """Return a memory limit if the allocator retried often, else None.

    The time lost to retries is not measured.
    """
    retries = activity.allocator_retries or 0
    if retries < max(_RETRIES, _RETRIES * activity.seconds):
        return None
    tried = new_reading("allocator_retries", retries, "device", "allocator", 1)
    sentence = say_count(
        "The allocator freed its cached memory and retried once.",
        "The allocator freed its cached memory and retried {count} times.",
        retries,
    )
    return Limit("memory", "likely", sentence, None, (tried, *evidence), remedies.remedy("memory", record))
