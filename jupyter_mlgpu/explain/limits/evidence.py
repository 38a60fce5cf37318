"""What an answer rests on, and what follows from it: a mixture where nothing prevails, and a bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.shares import Cause, Shares, kind_of
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Part
from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, Scope, Source, new_reading

#: The kinds that are named where none prevails: so many, each with at least this part of the time.
_NAMED, _NAMED_FROM = 4, 0.05
#: The least part of the time that has to be left without a limit for a bound to say something.
_LEFT = 0.05


def mixture(found: Shares) -> dict[Cause, float]:
    """The shares of the causes that took time, the largest first."""
    told = {cause: round(found.share(cause), 4) for cause in found.by_kind if cause != "unknown"}
    largest = sorted(told.items(), key=lambda one: -one[1])[:_NAMED]
    return {cause: share for cause, share in largest if share >= _NAMED_FROM}


def by_kind(shares: Mapping[Cause, float]) -> dict[LimitKind, float]:
    """The same by the kinds as which causes are told."""
    told: dict[LimitKind, float] = {}
    for cause, share in shares.items():
        told[kind_of(cause)] = min(1.0, told.get(kind_of(cause), 0.0) + share)
    return told


def at_least(cause: Cause, value: float, found: Shares, own: OwnWork | None, seconds: float) -> float | None:
    """Seconds that the cell would take without its limit; None where that is too little to say.

    Samples see a share within an interval, of which the upper end counts. What the GPU has to do remains.
    """
    high = value if found.exact == cause else share_interval(value * found.samples, found.samples)[1]
    left = 1 - high
    if own is not None and cause not in ("device", "contention"):
        left = max(left, own.computing if cause == "transfer" else own.busy)
    return left * seconds if left >= _LEFT else None


def readings(
    cause: Cause, value: float, parts: Sequence[Part], found: Shares, activity: Activity, own: OwnWork | None
) -> Iterable[Reading]:
    """What an answer rests on, the weightiest first; the driver's gauges where nothing better is known."""
    if own is not None:
        yield from own.readings()
    if found.exact != cause:
        yield new_reading("samples_share", round(value, 4), "cell", "samples", found.samples)
    if cause == "importing":  # readers tell it by this from compiling, which it is as a kind
        yield new_reading("importing_share", round(value, 4), "cell", "samples", found.samples)
    told: tuple[tuple[str, float | None, Source, Scope], ...] = (
        ("thread_time", activity.thread_time, "clock", "cell"),
        ("process_time", activity.process_time, "clock", "process"),
        ("processor_wait", activity.processor_wait, OPERATING_SYSTEM, "cell"),
        ("others_time", activity.others_time, OPERATING_SYSTEM, "machine"),
        ("time_not_seen", activity.unsampled or None, "samples", "cell"),
        ("memory_stall", activity.memory_stall or None, OPERATING_SYSTEM, "machine"),
    )
    if activity.memory_stall and activity.major_faults is not None:
        yield new_reading("major_faults", activity.major_faults, "process", OPERATING_SYSTEM, 1)
    for quantity, seconds, source, scope in told:
        if seconds is not None:
            yield new_reading(quantity, round(seconds, 6), scope, source, 1)
    if activity.compile_time:
        seconds, programs = round(activity.compile_time, 6), activity.compiled or 1
        yield new_reading("compile_time", seconds, "process", "clock", programs)
    if own is not None:
        return
    for label, (busy, samples) in activity.gpus.items():
        yield new_reading("device_busy", round(busy, 4), "device", "NVML", samples, device=label)
