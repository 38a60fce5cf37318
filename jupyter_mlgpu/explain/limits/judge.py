"""What limited a cell, and how sure that is: the kind that took most of its time, unless the clocks disagree.

`sure` needs twelve looks, of which more than half saw the kind also at the low end of their interval, nothing
of it guessed, and clocks that agree. `likely` is half of the time, `open` a third of it, `unknown` less.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import calls, shares, words
from jupyter_mlgpu.explain.limits.lines import hot_lines
from jupyter_mlgpu.explain.limits.shares import Shares
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part
from jupyter_mlgpu.record.limit import Confidence, Limit, LimitKind
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, Scope, Source
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say, say_count

#: Looks that `sure` needs, and those without which nothing is said.
FEWEST_FOR_SURE, FEWEST = 12, 3
#: Parts of the time from which on an answer is likely, and from which on there is one.
LIKELY, OPEN = 0.5, 0.35
#: The part of a kind that may be guessed, and of the time that may be unseen, in an answer that is sure.
_GUESSED, _UNSEEN = 0.2, 0.3
#: Processor time over time from which on somebody was at work, and up to which nobody was.
_WORKED, _RESTED = 0.5, 0.4
#: The part of the machine that others must have had for a wait for a processor to be their doing.
_OTHERS = 0.25
#: The part of the time in which a GPU must have worked for it to be what the cell waited for.
_GPU_BUSY = 0.6
#: What is lost to others, or to memory, counts from this part of the time on.
_LOST = 0.05
#: Retries of an allocator in a cell, and in a second of it, that tell of a lack of memory.
_RETRIES = 2
#: Messages of the catalogue that say that a compiler was at work, which no stack tells.
COMPILED = frozenset({"xla-cluster-compiled"})

PROFILED = say("A profiler or debugger was at work in this cell, so its times say nothing of what limits it.")


def with_limit(record: Record, activity: Activity, lines_above: int = 0) -> Record:
    """The record with what limited its cell, or why that is not known, and with its hot lines.

    `lines_above` are lines of the cell above its Python code, from which the looks count.
    """
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    if activity.looks < FEWEST and activity.unseen < LIKELY * activity.seconds:
        why = say_count(
            "The cell was looked at once, which is too little to tell.",
            "The cell was looked at {count} times, which is too little to tell.",
            activity.looks,
        )
        return replace(record, why_no_limit=why)
    activity = _in_the_cell(activity, record.cell.execution_count, lines_above)
    on_gpu = _on_gpu(record)
    found = shares.of(activity, framework_worked=bool(record.device.ran_on), on_gpu=on_gpu)
    device = _gpu(found, activity) if on_gpu else None
    _prepared(found, record, activity)
    _disturbed(found, activity)
    return replace(record, limit=_limit(found, activity, device), lines=hot_lines(activity))


def _in_the_cell(activity: Activity, number: int | None, lines_above: int) -> Activity:
    """The same with its own lines counted from the top of the cell, and without its own number."""

    def moved(part: Part) -> Part:
        if part.line is None or part.line.cell not in (None, number):
            return part
        return replace(part, line=Line(part.line.number + lines_above))

    return replace(
        activity, parts=tuple(map(moved, activity.parts)), unseen_in=tuple(map(moved, activity.unseen_in))
    )


def _limit(found: Shares, activity: Activity, device: str | None) -> Limit:
    kind: LimitKind = max(found.by_kind, key=lambda one: found.by_kind[one], default="unknown")
    if found.share(kind) < OPEN:
        kind = "unknown"
    value, parts = found.share(kind), found.parts[kind]
    evidence = tuple(_evidence(kind, value, found, activity))
    if (short := _short_of_memory(activity, evidence)) is not None:
        return short
    return Limit(
        kind=kind,
        confidence=_confidence(kind, value, found, activity),
        said=words.said(kind, value, parts, device),
        share=None if kind == "unknown" else round(value, 4),
        evidence=evidence,
        next=words.next_of(kind, parts),
    )


def _confidence(kind: LimitKind, value: float, found: Shares, activity: Activity) -> Confidence:
    if kind == "unknown" or value < LIKELY or not _clocks_agree(kind, value, activity):
        return "open"
    if kind == "device" and activity.called_back and _python_elsewhere(found.parts[kind]):
        return "open"
    if kind in ("python", "launch") and _others(activity) >= _OTHERS and _late(found):
        return "open"
    low, _ = share_interval(value * found.looks, found.looks)
    guessed = found.guessed[kind] > _GUESSED * found.by_kind[kind]
    unseen = activity.unseen > _UNSEEN * activity.seconds
    return "likely" if found.looks < FEWEST_FOR_SURE or low <= LIKELY or guessed or unseen else "sure"


def _clocks_agree(kind: LimitKind, value: float, activity: Activity) -> bool:
    """Whether the processor's clocks say of all of the cell what the looks say of its moments."""
    own, whole, seconds = activity.thread_time, activity.process_time, activity.seconds
    if kind == "waiting":
        return own is None or own <= (1 - value + _RESTED) * seconds
    if kind in ("python", "launch"):
        # A thread beside the cell's may have done it.
        return whole is None or whole >= _WORKED * value * seconds
    if kind == "device" and not activity.gpus:
        return whole is None or whole >= _WORKED * value * seconds
    return True


def _on_gpu(record: Record) -> bool:
    ran = any(one.kind != "cpu" for one in record.device.ran_on or ())
    return ran or any(one.plane == "device" for one in record.ops)


def _gpu(found: Shares, activity: Activity) -> str | None:
    """The GPU that worked; where it had little to do, what was waited for were copies."""
    label = max(activity.gpus, key=lambda one: activity.gpus[one][0], default=None)
    if label is None:
        return None
    if activity.gpus[label][0] >= _GPU_BUSY:
        # Who waits in a call that nobody knows waits for the GPU, most likely.
        found.move("waiting", "device", lambda part: part.doing is None and not calls.sleeps(part.call))
    if activity.gpus[label][0] < _GPU_BUSY:
        found.move("device", "transfer", lambda part: not calls.only_waits(part.call))
        return None
    return label


def _prepared(found: Shares, record: Record, activity: Activity) -> None:
    """What prepares without a stack that tells it: a compiler in a child process, and first runs.

    A graph is optimised when it first runs, and its kernels are made: about as long as it was traced for.
    """
    waited = sum(part.seconds for part in found.parts["waiting"] if calls.brings_values(part.call))
    if waited and (activity.children_time or 0.0) > 0.5 * waited:
        found.move("waiting", "compiling", lambda part: calls.brings_values(part.call))
    if any(line.id in COMPILED for line in record.logs):
        found.move("device", "compiling", lambda part: part.doing is None)
        return
    traced = [part for part in found.parts["compiling"] if part.doing == "compiling"]
    if sum(part.seconds for part in traced) >= 0.5 * found.by_kind["device"] > 0:
        lines = {part.line for part in traced}
        found.move("device", "compiling", lambda part: part.line in lines)


def _python_elsewhere(parts: Iterable[Part]) -> bool:
    """Whether the cell's thread mostly waited for others: then one of these may have computed in Python.

    A function that native threads call (of a data pipeline, say) gives the lock up as it ends, unseen.
    """
    parts = list(parts)
    waiting = sum(part.seconds for part in parts if part.state == "idle beside others")
    return waiting > 0.5 * sum(part.seconds for part in parts)


def _others(activity: Activity) -> float:
    """The part of the machine's processors that other programs had."""
    return (activity.others_time or 0.0) / (activity.cores * activity.seconds)


def _late(found: Shares) -> bool:
    """Whether much rests on looks that came late: for want of the lock, or of a processor?"""
    parts = [*found.parts["python"], *found.parts["launch"]]
    late = sum(part.seconds for part in parts if part.state == "kept lock")
    return late > _GUESSED * sum(part.seconds for part in parts)


def _disturbed(found: Shares, activity: Activity) -> None:
    """Time that the cell had to wait for others, or for memory: taken from what it did in that time."""
    if _others(activity) >= _OTHERS:
        # A thread that waits for others of its process waits for no processor: they do.
        waited = sum(part.seconds for part in found.parts["device"] if part.state == "idle beside others")
        waits, worked = activity.processor_waits or 0.0, activity.process_time or 0.0
        lost = (activity.processor_wait or 0.0) / activity.seconds
        lost += waited / found.seconds * (waits / (waits + worked) if waits else 0.0)
        if lost > _LOST:
            found.take("contention", min(lost, 1.0), but="waiting")
    if (activity.gpu_others or 0.0) >= _OTHERS and found.by_kind["device"] > 0:
        found.take("contention", found.share("device") * (activity.gpu_others or 0.0), but="waiting")
    stalled = (activity.memory_stall or 0.0) / activity.seconds if activity.swapped else 0.0
    if stalled > _LOST:
        found.take("memory", min(stalled, 1.0), but="waiting")


def _short_of_memory(activity: Activity, evidence: tuple[Reading, ...]) -> Limit | None:
    """An allocator that tried again and again; how long that took, nobody counts."""
    retries = activity.allocator_retries or 0
    if retries < max(_RETRIES, _RETRIES * activity.seconds):
        return None
    tried = Reading("allocator_retries", retries, "retries", "device", "allocator", 1)
    said = say_count(
        "The allocator freed what it kept and tried again once.",
        "The allocator freed what it kept and tried again {count} times.",
        retries,
    )
    return Limit("memory", "likely", said, None, (tried, *evidence), words.next_of("memory", ()))


def _evidence(kind: LimitKind, value: float, found: Shares, activity: Activity) -> Iterable[Reading]:
    yield Reading("samples_share", round(value, 4), "share", "cell", "samples", found.looks)
    told: tuple[tuple[str, float | None, Source, Scope], ...] = (
        ("thread_time", activity.thread_time, "clock", "cell"),
        ("process_time", activity.process_time, "clock", "process"),
        ("processor_wait", activity.processor_wait, OPERATING_SYSTEM, "cell"),
        ("others_time", activity.others_time, OPERATING_SYSTEM, "machine"),
        ("time_not_seen", activity.unseen or None, "samples", "cell"),
        ("memory_stall", activity.memory_stall or None, OPERATING_SYSTEM, "machine"),
    )
    for quantity, seconds, source, scope in told:
        if seconds is not None:
            yield Reading(quantity, round(seconds, 6), "s", scope, source, 1)
    for label, (busy, samples) in activity.gpus.items():
        yield Reading("device_busy", round(busy, 4), "share", "device", "NVML", samples, device=label)
