"""What limited a cell: the kind that took most of its time, as samples, counters and records have it."""

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

#: Looks without which nothing is said.
FEWEST = 3
#: What is lost to others, or to memory, counts from this part of the time on.
_LOST = 0.05
#: Waits for a page, a second, without which the process itself was not short of memory: at the 8 ms of a disk
#: that turns, six are `_LOST` of the time.
_FAULTS = 5
#: Retries of an allocator in a cell, and in a second of it, that tell of a lack of memory.
_RETRIES = 2

PROFILED = say("A profiler or debugger was active in this cell, so its times do not show what limits it.")


def with_limit(record: Record, activity: Activity) -> Record:
    """The record with what limited its cell, or why that is not known, and with its hot lines."""
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    own = own_work.of(record)
    # Of time in which nobody could look, of measured compiling, and of what a GPU did there is something to
    # say without looks.
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
    _prepared(found, activity)
    if own is not None:
        own_work.share_out(found, own)
    measured.compiling(found, activity)
    _disturbed(found, activity)
    time = _Shared(record, found, activity, own, on_gpu)
    limit = time.limit(device, _seconds(record, own))
    return replace(record, limit=limit, why_no_limit=None, lines=hot_lines(activity))


def _seconds(record: Record, own: OwnWork | None) -> float:
    return own.seconds if own is not None else float(record.reading("wall_time").value or 0)


def _in_the_cell(activity: Activity, number: int | None) -> Activity:
    """The same with its own lines without its own number, and lines without their file."""

    def moved(part: Part) -> Part:
        if part.line is None:
            return part
        cell = None if part.line.cell == number else part.line.cell
        return replace(part, line=Line(part.line.number, cell))

    return replace(
        activity,
        parts=tuple(map(moved, activity.parts)),
        unsampled_in=tuple(map(moved, activity.unsampled_in)),
    )


@dataclass(frozen=True, slots=True)
class _Shared:
    """A cell's time as it was shared out, and what is known beside."""

    record: Record
    shares: Shares
    activity: Activity
    own: OwnWork | None
    on_gpu: bool

    def limit(self, device: str | None, seconds: float) -> Limit:
        """What took most of the time; `device` is a GPU that worked, as the driver's gauge names it."""
        found, activity, own = self.shares, self.activity, self.own
        cause: Cause = max(found.by_kind, key=lambda one: found.by_kind[one], default="unknown")
        if found.share(cause) < OPEN:
            cause = "unknown"
        value, parts = found.share(cause), found.parts[cause]
        told = tuple(evidence.readings(cause, value, parts, found, activity, own))
        if (short := _short_of_memory(activity, told, self.record)) is not None:
            return short
        if cause == "device" and activity.gpus and own is None and _for_others(activity):
            worked = min(1.0, value + found.share("contention"))
            said = limit_sentences.shared_gpu(
                device or next(iter(activity.gpus)), worked, found.samples, parts
            )
            return Limit("unknown", "open", said, None, told, remedies.WITHOUT_NEIGHBOURS)
        native = cause == "python" and _may_be_native(
            parts, seen=bool(activity.parts), worked=bool(self.record.device.ran_on)
        )
        sure = "open" if native else confidence(cause, found, activity, own, on_gpu=self.on_gpu)
        mixed = cause == "unknown" or value < LIKELY or (sure == "open" and _others_prevail_too(found, cause))
        shared = evidence.mixture(found) if mixed else {}
        samples = None if found.exact == cause else found.samples
        waited = own is not None and cause == "device" and samples is not None
        name = device if own is None else own.device[0]
        said = limit_sentences.said("gpu" if waited else cause, value, samples, parts, name)
        limit = Limit(
            kind=kind_of(cause),
            confidence=sure,
            said=limit_sentences.mixed(shared, found.samples) if mixed else said,
            share=None if cause == "unknown" else round(value, 4),
            evidence=told,
            next=remedies.WITHOUT_NEIGHBOURS
            if activity.gpu_neighbours and sure == "open" and cause == "device"
            else remedies.remedy("unknown" if native else cause, self.record, parts),
            parts=evidence.by_kind(shared) or None,
        )
        left = evidence.at_least(cause, value, found, own, seconds)
        if left is None or sure == "open":
            return limit
        without = new_reading("time_without", round(left, 6), "cell", "samples", found.samples)
        return replace(limit, bound=limit_sentences.bound(seconds, left), evidence=(*told, without))


def _others_prevail_too(found: Shares, cause: Cause) -> bool:
    """Whether other programs had the processors or the GPU for about as long as `cause` took."""
    return cause != "contention" and found.share("contention") >= OPEN


def _for_others(activity: Activity) -> bool:
    """Whether a GPU may have worked for others as well as for this cell.

    The driver does not tell, or others had much of it, and how much rests on few samples of the driver's.
    """
    if activity.gpu_others is None:
        return bool(activity.gpu_neighbours)
    return activity.gpu_others >= OTHERS


def _on_gpu(record: Record, own: OwnWork | None) -> bool:
    if own is not None and (own.launches or own.earlier):
        return True
    ran = any(one.kind != "cpu" for one in record.device.ran_on or ())
    return ran or any(one.plane == "device" for one in record.ops)


def _prepared(found: Shares, activity: Activity) -> None:
    """What prepares without a stack that tells it: a compiler in a child process, and first runs.

    XLA compiles a graph as it first runs, which takes longer than to run it once. Another graph is optimised
    when it first runs, and its kernels are made: about as long as it was traced for, which the framework's
    own clock knows better than the looks do.
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
    """Whether what looks like Python may be native code of a library of arrays, which a profile would tell.

    Such code may keep the interpreter's lock, or let it go for so short a time that nobody gets it. So it may
    be where the parts were mostly seen at its operations, or, where nothing was `seen`, a framework `worked`.
    """
    if not seen:
        return worked
    at = sum(part.seconds for part in parts if calls.of_arrays(part))
    return at > 0.5 * sum(part.seconds for part in parts)


def _disturbed(found: Shares, activity: Activity) -> None:
    """Time that the cell had to wait for others, or for memory: taken from what it did in that time."""
    if others(activity) >= OTHERS:
        # A thread that waits for others of its process waits for no processor: they do.
        waited = sum(part.seconds for part in found.parts["device"] if part.state == "idle beside others")
        waits, worked = activity.processor_waits or 0.0, activity.process_time or 0.0
        lost = (activity.processor_wait or 0.0) / activity.seconds
        lost += waited / found.seconds * (waits / (waits + worked) if waits else 0.0)
        if lost > _LOST:
            found.take("contention", min(lost, 1.0), but="waiting")
    if (activity.gpu_others or 0.0) >= OTHERS and found.by_kind["device"] > 0:
        found.take("contention", found.share("device") * (activity.gpu_others or 0.0), but="waiting")
    # The machine counts what all programs on it wait for: another one may be what swaps.
    own = activity.major_faults is None or activity.major_faults >= _FAULTS * activity.seconds
    stalled = (activity.memory_stall or 0.0) / activity.seconds if activity.swapped and own else 0.0
    if stalled > _LOST:
        found.take("memory", min(stalled, 1.0), but="waiting")


def _short_of_memory(activity: Activity, evidence: tuple[Reading, ...], record: Record) -> Limit | None:
    """An allocator that tried again and again; how long that took, nobody counts."""
    retries = activity.allocator_retries or 0
    if retries < max(_RETRIES, _RETRIES * activity.seconds):
        return None
    tried = new_reading("allocator_retries", retries, "device", "allocator", 1)
    said = say_count(
        "The allocator freed its cached memory and retried once.",
        "The allocator freed its cached memory and retried {count} times.",
        retries,
    )
    return Limit("memory", "likely", said, None, (tried, *evidence), remedies.remedy("memory", record))
