"""What limited a cell, and how sure that is: the kind that took most of its time, unless the clocks disagree.

`sure` needs twelve looks of which more than half, within their interval, saw the kind, nothing of it guessed, and clocks
that agree; `likely` half of the time; what has a third of it is `open`, and nothing is `unknown`.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import shares, words
from jupyter_mlgpu.explain.limits.lines import hot_lines
from jupyter_mlgpu.explain.limits.shares import Shares
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Line, Part
from jupyter_mlgpu.record.limit import Confidence, Limit, LimitKind
from jupyter_mlgpu.record.reading import Reading, Source
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say

#: Looks that `sure` needs, and those without which nothing is said.
FEWEST_FOR_SURE = 12
FEWEST = 3
#: Parts of the time: from here on an answer is likely, and from here on there is one.
LIKELY, OPEN = 0.5, 0.35
#: The part of a kind that may be guessed in an answer that is sure.
_GUESSED = 0.2
#: Processor time over time from which on somebody was at work, and up to which nobody was.
_WORKED, _RESTED = 0.5, 0.4
#: The part of the machine that others must have had for a wait for a processor to be their doing.
_OTHERS = 0.25
#: The part of the time in which a GPU must have worked for it to be what the cell waited for.
_GPU_BUSY = 0.6

PROFILED = say("A profiler or debugger was at work in this cell, so its times say nothing of what limits it.")


def with_limit(record: Record, activity: Activity, lines_above: int = 0) -> Record:
    """The record with what limited its cell, or why that is not known, and with its hot lines.

    `lines_above` are lines of the cell above its Python code, from which the looks count.
    """
    activity = _in_the_cell(activity, record.cell.execution_count, lines_above)
    if shares.is_profiled(activity):
        return replace(record, why_no_limit=PROFILED)
    if activity.looks < FEWEST and activity.unseen < LIKELY * activity.seconds:
        why = say("The cell was looked at {looks} times, which is too few to tell.", looks=activity.looks)
        return replace(record, why_no_limit=why)
    on_gpu = _on_gpu(record)
    found = shares.of(activity, _framework_worked(record), on_gpu)
    device = _gpu(found, activity, on_gpu)
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
    kind, seconds = max(found.by_kind.items(), key=lambda one: one[1], default=("unknown", 0.0))
    value = found.share(kind)
    if value < OPEN or kind == "unknown":
        kind, value = "unknown", found.share("unknown")
    parts = found.parts[kind]
    return Limit(
        kind=kind,
        confidence=_confidence(kind, value, found, activity),
        said=words.said(kind, value, parts, device),
        share=None if kind == "unknown" else value,
        evidence=tuple(_evidence(kind, value, found, activity)),
        next=words.next_of(kind, parts),
    )


def _confidence(kind: LimitKind, value: float, found: Shares, activity: Activity) -> Confidence:
    low, _ = share_interval(value * found.looks, found.looks)
    if kind == "unknown" or value < LIKELY or not _clocks_agree(kind, value, activity):
        return "open"
    guessed = found.guessed[kind] > _GUESSED * found.by_kind[kind]
    unseen = activity.unseen > 0.3 * activity.seconds
    if found.looks < FEWEST_FOR_SURE or low <= LIKELY or guessed or unseen:
        return "likely"
    return "sure"


def _clocks_agree(kind: LimitKind, value: float, activity: Activity) -> bool:
    """Whether the processor's clocks say of all of the cell what the looks say of its moments."""
    own, whole, seconds = activity.thread_time, activity.process_time, activity.seconds
    if kind == "waiting":
        return own is None or own <= (1 - value + _RESTED) * seconds
    if kind in ("python", "launch"):
        return own is None or own >= _WORKED * value * seconds
    if kind == "device" and not activity.gpus:
        return whole is None or whole >= _WORKED * value * seconds
    return True


def _on_gpu(record: Record) -> bool:
    return any(one.kind != "cpu" for one in record.device.ran_on or ()) or any(
        one.plane == "device" for one in record.ops
    )


def _framework_worked(record: Record) -> bool:
    return bool(record.device.ran_on)


def _gpu(found: Shares, activity: Activity, on_gpu: bool) -> str | None:
    """The GPU that worked, where there is one; what the host did meanwhile is then no limit."""
    if not on_gpu:
        return None
    label, (busy, _) = max(activity.gpus.items(), key=lambda one: one[1][0], default=(None, (0.0, 0)))
    if label is None:
        return None
    waited = found.by_kind["device"]
    if busy < _GPU_BUSY and waited > 0:  # asked for values that were long in coming, from a GPU with little to do
        found.by_kind["transfer"] += waited  # type: ignore[assignment]
        found.parts["transfer"] += found.parts.pop("device", [])
        found.by_kind["device"] = 0
        return None
    return label


def _disturbed(found: Shares, activity: Activity) -> None:
    """Time that the cell had to wait for others, or for memory: taken from what it did in that time."""
    seconds = activity.seconds
    others = 0.0 if activity.others_time is None else activity.others_time / (activity.cores * seconds)
    lost = 0.0
    if others >= _OTHERS:
        # A thread that waits for others of its process waits for no processor: they do.
        waited = sum(part.seconds for part in found.parts["device"] if part.state == "idle beside others")
        lost = (activity.processor_wait or 0.0) / seconds + waited / found.seconds * others
    stalled = (activity.memory_stall or 0.0) / seconds if activity.swapped else 0.0
    for kind, share in (("contention", lost), ("memory", stalled)):
        share = min(share, 1.0)
        if share > 0.05:
            for other in found.by_kind:
                if other != "waiting":
                    found.by_kind[other] *= 1 - share  # type: ignore[assignment]
            found.by_kind[kind] += share * found.seconds  # type: ignore[index, assignment]


def _evidence(kind: LimitKind, value: float, found: Shares, activity: Activity) -> Iterable[Reading]:
    yield Reading(f"time_{kind}", value, "share", "cell", "samples", found.looks)
    told: tuple[tuple[str, float | None, Source, str], ...] = (
        ("thread_time", activity.thread_time, "clock", "cell"),
        ("process_time", activity.process_time, "clock", "process"),
        ("processor_wait", activity.processor_wait, "operating system", "cell"),
        ("others_time", activity.others_time, "operating system", "machine"),
        ("time_not_seen", activity.unseen or None, "samples", "cell"),
        ("memory_stall", activity.memory_stall or None, "operating system", "machine"),
    )
    for quantity, seconds, source, scope in told:
        if seconds is not None:
            yield Reading(quantity, seconds, "s", scope, source, 1)  # type: ignore[arg-type]
    for label, (busy, samples) in activity.gpus.items():
        yield Reading("device_busy", busy, "share", "device", "NVML", samples, device=label)
