"""Judge what limited a profiled cell: its trace covers the device, its samples cover the host.

On a GPU the trace decides: a device that worked most of the run was the limit, and an idle one was not.
Samples say better than a trace what the host did meanwhile. Without a GPU the operations of the trace are the
host's own work, and distinguish many small operations from a few large ones.

A profiler slows down Python, but hardly the device. So a device that worked most of the profiled run would
work for an even larger share of a light run, and this may be `sure`. Python and launches would take less, and
are `likely` at most.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits import remedies
from jupyter_mlgpu.explain.limits.confidence import LIKELY, OPEN
from jupyter_mlgpu.explain.limits.judge import PROFILED
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.limit import Confidence, Limit, LimitKind
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, joined, say

IN_THE_TABLE = say("The operations in this receipt, the longest first, show where the time went.")
#: The share of the profiled run from which on a working device is surely the limit.
_SURELY = 0.6
#: The host's kinds of limit that leave a device idle; the others would have kept the device busy.
_OF_THE_HOST: frozenset[LimitKind] = frozenset(
    ("compiling", "waiting", "python", "input", "launch", "memory", "contention")
)
#: Kinds of limit that a profiler makes longer.
_SLOWED: frozenset[LimitKind] = frozenset(("python", "launch", "input"))

_OF_DEVICES = ("device_idle", "device_copies", "device_gaps", "operation_rate", "operation_length")
_OF_HOST = ("host_operations", "short_operations", "operation_rate", "operation_length")


def with_trace(record: Record) -> Record:
    """Return the record of a profiled cell with the limit that its trace shows, if any.

    The advice is never to profile the cell.
    """
    found = _by_trace(record)
    limit = found.limit
    if limit is None or not remedies.is_to_profile(limit.next):
        return found
    return replace(found, limit=replace(limit, next=IN_THE_TABLE if found.ops else None))


def _by_trace(record: Record) -> Record:
    if record.why_no_limit == PROFILED:  # the user's own profiler distorts the trace, too
        return record
    device = _busiest(record)
    trace = _evidence(record, device)
    if not trace:
        return record
    limit = _on_host(record, trace) if device is None else _on_device(record, device, trace)
    return record if limit is None else replace(record, limit=limit, why_no_limit=None)


def _busiest(record: Record) -> str | None:
    idle = {one.device: one.value for one in record.readings if one.quantity == "device_idle" and one.device}
    known = {device: value for device, value in idle.items() if value is not None}
    return min(known, key=lambda device: known[device], default=None)


def _evidence(record: Record, device: str | None) -> tuple[Reading, ...]:
    wanted = _OF_HOST if device is None else (*_OF_DEVICES, "host_operations")
    wanted_readings = [
        one
        for one in record.readings
        if one.quantity in wanted and one.value is not None and one.device in (device, None)
    ]
    return tuple(sorted(wanted_readings, key=lambda one: wanted.index(one.quantity)))


def _value(readings: Sequence[Reading], quantity: str) -> float | None:
    return next(
        (float(one.value) for one in readings if one.quantity == quantity and one.value is not None), None
    )


def _on_device(record: Record, device: str, trace: tuple[Reading, ...]) -> Limit:
    idle, copying = _value(trace, "device_idle") or 0.0, _value(trace, "device_copies") or 0.0
    working = max(0.0, 1 - idle - copying)
    sampled = record.limit
    if working >= LIKELY:
        sure: Confidence = "sure" if working >= _SURELY else "likely"
        sentence = say(
            "{device} was working for {share} of the profiled run.",
            device=device,
            share=units.percent(working),
        )
        return _limit("device", sure, sentence, working, trace, record)
    if copying >= OPEN and copying >= working:
        sure = "sure" if copying >= _SURELY else "likely" if copying >= LIKELY else "open"
        sentence = say(
            "Copies between host and {device} took {share} of the profiled run.",
            device=device,
            share=units.percent(copying),
        )
        return _limit("transfer", sure, sentence, copying, trace, record)
    idle_sentence = say(
        "{device} was idle for {share} of the profiled run.", device=device, share=units.percent(idle)
    )
    if _launches(trace) and (
        sampled is None or sampled.kind in ("launch", "device", "transfer", "unknown", "waiting")
    ):
        sentence = joined(idle_sentence, say("It finished each operation before the next one was started."))
        return _limit(
            "launch", "likely", sentence, min(idle, _value(trace, "host_operations") or idle), trace, record
        )
    if sampled is not None and sampled.kind in _OF_THE_HOST:
        confidence = _slowed(sampled)
        return replace(
            sampled,
            confidence=confidence,
            said=joined(idle_sentence, sampled.said),
            evidence=(*trace, *sampled.evidence),
        )
    sentence = joined(
        idle_sentence, say("Whether Python, input or something else kept it waiting is not clear.")
    )
    return _limit("unknown", "open", sentence, None, trace, record)


def _launches(trace: Sequence[Reading]) -> bool:
    """Return True if the host mostly launched operations, each shorter than the gap before the next."""
    rate, length = _value(trace, "operation_rate"), _value(trace, "operation_length")
    host, gaps = _value(trace, "host_operations"), _value(trace, "device_gaps")
    if not rate or not length or host is None or gaps is None:
        return False
    return host >= LIKELY and gaps >= LIKELY and length < gaps / rate


def _on_host(record: Record, trace: tuple[Reading, ...]) -> Limit | None:
    """Return the limit of a cell whose operations ran on the host.

    The trace shows the host's operations, samples show what else it did.
    """
    working, short = _value(trace, "host_operations") or 0.0, _value(trace, "short_operations")
    sampled = record.limit
    many = short is not None and short >= LIKELY
    if sampled is not None and sampled.kind not in (
        "device",
        "launch",
        "unknown",
        *(("python",) if many else ()),
    ):
        return replace(sampled, confidence=_slowed(sampled), evidence=(*trace, *sampled.evidence))
    if working < LIKELY or short is None:
        return None if sampled is None else replace(sampled, evidence=(*trace, *sampled.evidence))
    if short > 0.5 * working:
        sentence = say("Small operations took {share} of the profiled run.", share=units.percent(short))
        return _limit("launch", "likely" if short >= LIKELY else "open", sentence, short, trace, record)
    sentence = say("Large operations took {share} of the profiled run.", share=units.percent(working - short))
    return _limit("device", "likely", sentence, working - short, trace, record)


def _slowed(sampled: Limit) -> Confidence:
    """Return the sampled confidence, at most `likely` for what the profiler itself makes longer."""
    return "likely" if sampled.kind in _SLOWED and sampled.confidence == "sure" else sampled.confidence


def _limit(
    kind: LimitKind,
    confidence: Confidence,
    sentence: Sentence,
    share: float | None,
    trace: tuple[Reading, ...],
    record: Record,
) -> Limit:
    sampled = record.limit
    if sampled is not None and sampled.kind == kind and sampled.confidence == "sure" and kind not in _SLOWED:
        confidence = "sure"
    evidence = (*trace, *(sampled.evidence if sampled is not None else ()))
    return Limit(
        kind,
        confidence,
        sentence,
        None if share is None else round(share, 4),
        evidence,
        remedies.remedy(kind, record),
    )
