"""Selection of a report's fields from a student's record.

Each field is looked up in a closed list, or is a number or digits. Anything else is left out, so the texts of
a record cannot leak.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, get_args

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.reading import Reading, Scope, Source
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.teach.sharing.report import (
    FRAMEWORKS,
    LARGEST,
    MAX_READINGS,
    MOST,
    SCHEMA,
    SHARED,
    VERSION,
    Kind,
    Report,
    SharedCheck,
    SharedRecord,
    from_json,
    to_json,
)

KINDS, SCOPES, SOURCES = get_args(Kind), get_args(Scope), get_args(Source)


def record_of(record: Record) -> SharedRecord | None:
    """Return the shared fields of a record, or None.

    It is None if the run, number, outcome or time is not of the form that this package writes. Such a record
    was written by hand or by another program, and is not sent.
    """
    run, number = record.run.id, record.cell.sequence
    place = max(record.device.ran_on or (), key=lambda one: one.operations or 0, default=None)
    framework = None if place is None or place.framework not in FRAMEWORKS else place.framework
    version = VERSION.match(record.versions.get(framework, "")) if framework is not None else None
    readings = [
        _reading_of(one, timed=record.mode == "light")
        for one in record.readings
        if SHARED.get(one.quantity) == one.unit and one.scope in SCOPES
    ]
    fields = {
        "id": f"{run}-{number}",
        "run": run,
        "number": number,
        "execution_count": record.cell.execution_count or None,
        "started_at": _seconds(record.started_at),
        "outcome": record.outcome,
        "framework": framework,
        "framework_version": None if version is None else version.group(),
        "device": None if place is None else place.kind if place.kind in KINDS else "other",
        "readings": readings[:MAX_READINGS],
    }
    try:
        return decoding.decode(SharedRecord, fields, "the record")
    except RecordError:
        return None


def _reading_of(reading: Reading, *, timed: bool) -> dict[str, Any]:
    value = reading.value if timed or reading.quantity != "wall_time" else None
    if value is not None and not 0 <= value <= LARGEST:
        value = None
    return {
        "quantity": reading.quantity,
        "value": value,
        "unit": reading.unit,
        "scope": reading.scope,
        "source": reading.source if reading.source in SOURCES else "other",
        "samples": reading.samples if value is not None and 0 <= reading.samples <= MOST else 0,
    }


def _seconds(started_at: str) -> float | None:
    try:
        moment = datetime.fromisoformat(started_at)
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return None


def report_with(
    records: Iterable[SharedRecord], checks: Iterable[SharedCheck], lesson: str | None, sent_at: float
) -> Report:
    """Return a report of shared records; raises RecordError if it is invalid.

    `lesson` is one of LESSONS or None; `sent_at` is in seconds since 1970.
    """
    report = Report(SCHEMA, lesson, sent_at, tuple(records), tuple(checks))
    return from_json(to_json(report))  # the receiver would refuse anything else
