"""What limited a cell, and how sure that is: the kind that took most of its time, unless the clocks disagree.

`sure` needs twelve looks, of which more than half saw the kind also at the low end of their interval, nothing
of it guessed, and clocks that agree. `likely` is half of the time, and a third at that low end; for data that
is got ready, fewer than twelve looks must have seen more than half there, too. `open` is a third, `unknown`
less.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import calls, measured, shares, words
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
#: What is lost to others, or to memory, counts from this part of the time on.
_LOST = 0.05
#: Waits for a page, a second, without which the process itself was not short of memory: at the 8 ms of a disk
#: that turns, six are `_LOST` of the time.
_FAULTS = 5
#: Retries of an allocator in a cell, and in a second of it, that tell of a lack of memory.
_RETRIES = 2

PROFILED = say("A profiler or debugger was active in this cell, so its times do not show what limits it.")


def with_limit(record: Record, activity: Activity, lines_above: int = 0) -> Record:
    """The record with what limited its cell, or why that is not known, and with its hot lines.

    `lines_above` are lines of the cell above its Python code, from which the looks count.
    """
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    # Of time in which nobody could look, and of measured compiling, there is something to say without looks.
    known = max(activity.unseen, activity.compile_time or 0.0)
    if activity.looks < FEWEST and known < LIKELY * activity.seconds:
        why = say_count(
            "The cell was sampled only once, which is not enough to judge.",
            "The cell was sampled {count} times, which is not enough to judge.",
            activity.looks,
        )
        return replace(record, why_no_limit=why)
    activity = _in_the_cell(activity, record.cell.execution_count, lines_above)
    on_gpu = _on_gpu(record)
    framework_worked = bool(record.device.ran_on)
    found = shares.of(activity, framework_worked=framework_worked, on_gpu=on_gpu)
    device = measured.gpu(found, activity) if on_gpu else None
    _prepared(found, activity)
    measured.compiling(found, activity)
    _disturbed(found, activity)
    limit = _limit(found, activity, device, framework_worked)
    return replace(record, limit=limit, lines=hot_lines(activity))


def _in_the_cell(activity: Activity, number: int | None, lines_above: int) -> Activity:
    """The same with its own lines counted from the top of the cell, and without its own number."""

    def moved(part: Part) -> Part:
        if part.line is None or part.line.cell not in (None, number):
            return part
        return replace(part, line=Line(part.line.number + lines_above))

    return replace(
        activity, parts=tuple(map(moved, activity.parts)), unseen_in=tuple(map(moved, activity.unseen_in))
    )


def _limit(found: Shares, activity: Activity, device: str | None, framework_worked: bool) -> Limit:
    kind: LimitKind = max(found.by_kind, key=lambda one: found.by_kind[one], default="unknown")
    if found.share(kind) < OPEN:
        kind = "unknown"
    value, parts = found.share(kind), found.parts[kind]
    evidence = tuple(_evidence(kind, value, parts, found, activity))
    if (short := _short_of_memory(activity, evidence)) is not None:
        return short
    if kind == "device" and activity.gpus and _for_others(activity):
        worked = min(1.0, value + found.share("contention"))
        told = words.shared_gpu(device or next(iter(activity.gpus)), worked, found.looks, parts)
        return Limit("unknown", "open", told, None, evidence, words.WITHOUT_NEIGHBOURS)
    native = kind == "python" and _may_be_native(parts, seen=bool(activity.parts), worked=framework_worked)
    return Limit(
        kind=kind,
        confidence="open" if native else _confidence(kind, value, found, activity),
        said=words.said(kind, value, found.looks, parts, device),
        share=None if kind == "unknown" else round(value, 4),
        evidence=evidence,
        next=words.next_of("unknown" if native else kind, parts),
    )


def _for_others(activity: Activity) -> bool:
    """Whether a GPU may have worked for others as well as for this cell.

    The driver does not tell, or others had much of it, and how much rests on few samples of the driver's.
    """
    if activity.gpu_others is None:
        return bool(activity.gpu_neighbours)
    return activity.gpu_others >= _OTHERS


def _confidence(kind: LimitKind, value: float, found: Shares, activity: Activity) -> Confidence:
    if kind == "unknown" or value < LIKELY or not _clocks_agree(kind, value, activity):
        return "open"
    if kind == "device" and activity.called_back and _python_elsewhere(found.parts[kind]):
        return "open"
    if kind in ("python", "launch") and _others(activity) >= _OTHERS and _late(found):
        return "open"
    if kind == "device" and activity.gpus and activity.gpu_others is None:
        return "likely"  # the GPU may have worked for others
    low, _ = share_interval(value * found.looks, found.looks)
    few = found.looks < FEWEST_FOR_SURE
    # Who reads and decodes lets go of the interpreter's lock, over and over, and there a look that waits for
    # it gets in: a few looks see more of that than there was.
    needed = LIKELY if few and kind == "input" else OPEN
    if found.looks and low < needed and not _is_measured(kind, activity):
        return "open"
    guessed = found.guessed[kind] > _GUESSED * found.by_kind[kind]
    if kind == "waiting" and guessed and _others(activity) >= _OTHERS:
        return "open"  # in a call that nobody knows: perhaps for threads of its own that had no processor
    unseen = activity.unseen > _UNSEEN * activity.seconds
    return "likely" if few or low <= LIKELY or guessed or unseen else "sure"


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


def _python_elsewhere(parts: Iterable[Part]) -> bool:
    """Whether the cell's thread mostly waited for others: then one of these may have computed in Python.

    A function that native threads call (of a data pipeline, say) gives the lock up as it ends, unseen.
    """
    parts = list(parts)
    waiting = sum(part.seconds for part in parts if part.state == "idle beside others")
    return waiting > 0.5 * sum(part.seconds for part in parts)


def _is_measured(kind: LimitKind, activity: Activity) -> bool:
    """Whether clocks tell the share, however few looks there were."""
    compiled = (activity.compile_time or 0.0) >= LIKELY * activity.seconds
    return kind in ("contention", "memory") or (kind == "compiling" and compiled)


def _may_be_native(parts: Sequence[Part], *, seen: bool, worked: bool) -> bool:
    """Whether what looks like Python may be native code of a library of arrays, which a profile would tell.

    Such code may keep the interpreter's lock, or let it go for so short a time that nobody gets it. So it may
    be where the parts were mostly seen at its operations, or, where nothing was `seen`, a framework `worked`.
    """
    if not seen:
        return worked
    at = sum(part.seconds for part in parts if calls.of_arrays(part))
    return at > 0.5 * sum(part.seconds for part in parts)


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
    # The machine counts what all programs on it wait for: another one may be what swaps.
    own = activity.major_faults is None or activity.major_faults >= _FAULTS * activity.seconds
    stalled = (activity.memory_stall or 0.0) / activity.seconds if activity.swapped and own else 0.0
    if stalled > _LOST:
        found.take("memory", min(stalled, 1.0), but="waiting")


def _short_of_memory(activity: Activity, evidence: tuple[Reading, ...]) -> Limit | None:
    """An allocator that tried again and again; how long that took, nobody counts."""
    retries = activity.allocator_retries or 0
    if retries < max(_RETRIES, _RETRIES * activity.seconds):
        return None
    tried = Reading("allocator_retries", retries, "retries", "device", "allocator", 1)
    said = say_count(
        "The allocator freed its cached memory and retried once.",
        "The allocator freed its cached memory and retried {count} times.",
        retries,
    )
    return Limit("memory", "likely", said, None, (tried, *evidence), words.next_of("memory", ()))


def _evidence(
    kind: LimitKind, value: float, parts: Sequence[Part], found: Shares, activity: Activity
) -> Iterable[Reading]:
    yield Reading("samples_share", round(value, 4), "share", "cell", "samples", found.looks)
    importing = sum(part.seconds for part in parts if part.doing == "importing")
    if kind == "compiling" and importing:  # imports have no kind of their own: readers tell them by this
        share = min(1.0, importing / found.seconds)
        yield Reading("importing_share", round(share, 4), "share", "cell", "samples", found.looks)
    told: tuple[tuple[str, float | None, Source, Scope], ...] = (
        ("thread_time", activity.thread_time, "clock", "cell"),
        ("process_time", activity.process_time, "clock", "process"),
        ("processor_wait", activity.processor_wait, OPERATING_SYSTEM, "cell"),
        ("others_time", activity.others_time, OPERATING_SYSTEM, "machine"),
        ("time_not_seen", activity.unseen or None, "samples", "cell"),
        ("memory_stall", activity.memory_stall or None, OPERATING_SYSTEM, "machine"),
    )
    if activity.memory_stall and activity.major_faults is not None:
        yield Reading("major_faults", activity.major_faults, "pages", "process", OPERATING_SYSTEM, 1)
    for quantity, seconds, source, scope in told:
        if seconds is not None:
            yield Reading(quantity, round(seconds, 6), "s", scope, source, 1)
    if activity.compile_time:
        seconds, programs = round(activity.compile_time, 6), activity.compiled or 1
        yield Reading("compile_time", seconds, "s", "process", "clock", programs)
    for label, (busy, samples) in activity.gpus.items():
        yield Reading("device_busy", round(busy, 4), "share", "device", "NVML", samples, device=label)
    for label, (rate, windows) in activity.host_rates.items():
        yield Reading("host_device_rate", round(rate), "bytes/s", "device", "NVML", windows, device=label)
