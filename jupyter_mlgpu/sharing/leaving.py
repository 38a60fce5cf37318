"""What of a student's records leaves: the fields of a report, and nothing else.

Each field is looked up in a closed list, or is a number or digits; what fits none of these does not leave. So
it matters nothing what texts a record holds.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from jupyter_mlgpu.record import Reading, Record
from jupyter_mlgpu.sharing.report import (
    DEVICES,
    FRAMEWORKS,
    LARGEST,
    LATEST,
    MAX_READINGS,
    MOST,
    OUTCOMES,
    RUN,
    SCHEMA,
    SCOPES,
    SHARED,
    SOURCES,
    VERSION,
    Report,
    SharedCheck,
    SharedReading,
    SharedRecord,
    from_json,
    to_json,
)


def record_of(record: Record) -> SharedRecord | None:
    """What of a record leaves; None where its run, number, outcome or time is not as this package makes it.

    Such a record was written by hand, or by something else, and stays where it is.
    """
    run, number = record.run.id, record.cell.sequence
    started = _seconds(record.started_at)
    if not RUN.fullmatch(run) or not 1 <= number <= MOST or started is None:
        return None
    if record.outcome not in OUTCOMES:
        return None
    place = max(record.device.ran_on or (), key=lambda one: one.operations or 0, default=None)
    framework = None if place is None or place.framework not in FRAMEWORKS else place.framework
    version = VERSION.match(record.versions.get(framework, "")) if framework is not None else None
    device = None if place is None else place.kind if place.kind in DEVICES else "other"
    readings = tuple(
        _reading_of(one, timed=record.mode == "light") for one in record.readings if _is_shared(one)
    )
    return SharedRecord(
        f"{run}-{number}",
        run,
        number,
        started,
        record.outcome,
        framework,
        None if version is None else version.group(),
        device,
        readings[:MAX_READINGS],
    )


def _is_shared(reading: Reading) -> bool:
    return SHARED.get(reading.quantity) == reading.unit and reading.scope in SCOPES


def _reading_of(reading: Reading, *, timed: bool) -> SharedReading:
    value = reading.value if timed or reading.quantity != "wall_time" else None
    if value is not None and not 0 <= value <= LARGEST:
        value = None
    samples = reading.samples if value is not None and 0 <= reading.samples <= MOST else 0
    source = reading.source if reading.source in SOURCES else "other"
    return SharedReading(reading.quantity, value, reading.unit, reading.scope, source, samples)


def _seconds(started_at: str) -> float | None:
    try:
        moment = datetime.fromisoformat(started_at)
        seconds = None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds if seconds is not None and 0 <= seconds <= LATEST else None


def report_with(
    records: Iterable[SharedRecord], checks: Iterable[SharedCheck], lesson: str | None, sent_at: float
) -> Report:
    """A report of what leaves of some records. Raises RecordError for what is no report.

    `lesson` is one of LESSONS or None; `sent_at` in seconds since 1970.
    """
    report = Report(SCHEMA, lesson, sent_at, tuple(records), tuple(checks))
    return from_json(to_json(report))  # nothing leaves that the other side would refuse
