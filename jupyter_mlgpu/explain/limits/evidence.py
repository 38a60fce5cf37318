"""Compute what a limit rests on (readings) and what follows from it: shares of the time and a lower bound."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from jupyter_mlgpu.explain.limits.own_work import OwnWork
from jupyter_mlgpu.explain.limits.shares import Cause, Shares, kind_of
from jupyter_mlgpu.explain.statistics import share_interval
from jupyter_mlgpu.measure.activity.activity import Activity, Part
from jupyter_mlgpu.record.limit import LimitKind
from jupyter_mlgpu.record.reading import OPERATING_SYSTEM, Reading, Scope, Source, new_reading

#: Where no cause prevails, at most so many are named, each with at least this share of the time.
_NAMED, _NAMED_FROM = 4, 0.05
#: The least share of the time that has to remain without the limit for a bound to be informative.
_LEFT = 0.05


def mixture(found: Shares) -> dict[Cause, float]:
    """Return the shares of the largest causes, the largest first."""
    shares = {cause: round(found.share(cause), 4) for cause in found.by_kind if cause != "unknown"}
    largest = sorted(shares.items(), key=lambda item: -item[1])[:_NAMED]
    return {cause: share for cause, share in largest if share >= _NAMED_FROM}


def by_kind(shares: Mapping[Cause, float]) -> dict[LimitKind, float]:
    """Return the shares by kind of limit; causes of the same kind are added up."""
    kinds: dict[LimitKind, float] = {}
    for cause, share in shares.items():
        kinds[kind_of(cause)] = min(1.0, kinds.get(kind_of(cause), 0.0) + share)
    return kinds


def at_least(cause: Cause, value: float, found: Shares, own: OwnWork | None, seconds: float) -> float | None:
    """Return the seconds that the cell would take without its limit, or None if that is too short.

    The share is known within a confidence interval, of which the upper end is used. The GPU's own work
    remains.
    """
    high = value if found.exact == cause else share_interval(value * found.samples, found.samples)[1]
    left = 1 - high
    if own is not None and cause not in ("device", "contention"):
        left = max(left, own.computing if cause == "transfer" else own.busy)
    return left * seconds if left >= _LEFT else None


def readings(
    cause: Cause, value: float, parts: Sequence[Part], found: Shares, activity: Activity, own: OwnWork | None
) -> Iterable[Reading]:
    """Yield the readings that support an answer, the weightiest first.

    The driver's gauges are included only if the GPU's own work was not recorded.
    """
    if own is not None:
        yield from own.readings()
    if found.exact != cause:
        yield new_reading("samples_share", round(value, 4), "cell", "samples", found.samples)
    if cause == "importing":  # its kind is "compiling": this reading tells the two apart
        yield new_reading("importing_share", round(value, 4), "cell", "samples", found.samples)
    quantities: tuple[tuple[str, float | None, Source, Scope], ...] = (
        ("thread_time", activity.thread_time, "clock", "cell"),
        ("process_time", activity.process_time, "clock", "process"),
        ("processor_wait", activity.processor_wait, OPERATING_SYSTEM, "cell"),
        ("others_time", activity.others_time, OPERATING_SYSTEM, "machine"),
        ("time_not_seen", activity.unsampled or None, "samples", "cell"),
        ("memory_stall", activity.memory_stall or None, OPERATING_SYSTEM, "machine"),
    )
    if activity.memory_stall and activity.major_faults is not None:
        yield new_reading("major_faults", activity.major_faults, "process", OPERATING_SYSTEM, 1)
    for quantity, seconds, source, scope in quantities:
        if seconds is not None:
            yield new_reading(quantity, round(seconds, 6), scope, source, 1)
    if activity.compile_time:
        seconds, programs = round(activity.compile_time, 6), activity.compiled or 1
        yield new_reading("compile_time", seconds, "process", "clock", programs)
    if own is not None:
        return
    for label, (busy, samples) in activity.gpus.items():
        yield new_reading("device_busy", round(busy, 4), "device", "NVML", samples, device=label)
