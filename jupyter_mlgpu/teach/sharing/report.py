"""The format of a report to the teacher's view, and its strict JSON reader. No input or output.

No field is free text: a string is one of a closed list, or fits a narrow pattern of digits. So no code, log
line, path, file name, notebook's name, host or user can be in a report, whatever a record holds. The reasons
for missing quantities stay in the student's receipt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from typing import Annotated, Any, Literal, get_args

from msgspec import Meta, Struct

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Scope, Source
from jupyter_mlgpu.record.record import Outcome
from jupyter_mlgpu.teach.packaged import FORMER, FORMER_EXERCISES, LESSONS

SCHEMA = 2

#: Most bytes of a report in UTF-8, most records and checks in one, and most readings of one record.
MAX_BYTES = 256_000
MAX_RECORDS = 100
MAX_CHECKS = 100
MAX_READINGS = 32

Quantity = Literal[
    "wall_time",
    "device_time",
    "peak_memory_process",
    "peak_memory_allocator",
    "peak_memory_device",
    "energy",
]
#: The quantities of a record that are shared, with their units.
SHARED: Mapping[str, str] = {name: QUANTITIES[name].unit for name in get_args(Quantity)}
#: A hub knows only the package's own frameworks; a record of another is sent without its name.
FRAMEWORKS = registry.OWN
#: Kinds of devices; a kind that is not in the list is sent as "other".
Kind = Literal["cpu", "cuda", "metal", "rocm", "tpu", "other"]

#: The exercises of all packaged lessons.
EXERCISES = tuple(exercise for names in LESSONS.values() for exercise in names)

VERSION = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){0,4}(?![0-9])")

LARGEST = 10**18
LATEST = 10**11  # seconds since 1970, far beyond any clock that is set
MOST = 10**9 - 1


Digits = Annotated[int, Meta(ge=1, le=MOST)]
Amount = Annotated[float, Meta(ge=0, le=LARGEST)]
Seconds1970 = Annotated[float, Meta(ge=0, le=LATEST)]


class SharedReading(Struct, frozen=True, forbid_unknown_fields=True):
    """One quantity in its unit. `value` is missing if it was not measured; the receipt has the reason."""

    quantity: Quantity
    value: Amount | None
    unit: str
    scope: Scope
    source: Source
    samples: Annotated[int, Meta(ge=0, le=MOST)]

    def __post_init__(self) -> None:
        if self.unit != SHARED[self.quantity]:
            raise RecordError(
                f"unit should be {SHARED[self.quantity]} for {self.quantity}, found {self.unit!r:.60}"
            )


class SharedRecord(Struct, frozen=True, forbid_unknown_fields=True):
    """One run of a cell. `id` is `run` and `number` with a hyphen between.

    `execution_count` is the number that the student sees, as in `[7]`; None for code outside of a numbered
    cell. `started_at` is in seconds since 1970. `framework`, its version and the kind of `device` are those
    on which most of the counted operations ran, or None if unknown. `wall_time` has no value if a profiler
    was on.
    """

    id: str
    run: Annotated[str, Meta(pattern=r"^[0-9a-f]{32}\Z", title="32 hexadecimal digits")]
    number: Digits
    execution_count: Digits | None
    started_at: Seconds1970
    outcome: Outcome
    framework: str | None
    framework_version: str | None
    device: Kind | None
    readings: Annotated[tuple[SharedReading, ...], Meta(max_length=MAX_READINGS)]

    def __post_init__(self) -> None:
        if self.id != f"{self.run}-{self.number}":
            raise RecordError(f"id should be its run, a hyphen and its number, found {self.id!r:.60}")
        if self.framework is not None:
            _one_of(self.framework, FRAMEWORKS, "framework")
        if self.framework_version is not None:
            if self.framework is None:
                raise RecordError("it has a version of no framework")
            if not VERSION.fullmatch(self.framework_version):
                found = f"{self.framework_version!r:.60}"
                raise RecordError(f"framework_version should be digits and dots, found {found}")


class SharedCheck(Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise: True if an answer was right since sharing began, and the number of answers tried."""

    exercise: str
    passed: bool
    tries: Digits

    def __post_init__(self) -> None:
        if self.exercise not in FORMER_EXERCISES:
            _one_of(self.exercise, EXERCISES, "exercise")


class Report(Struct, frozen=True, forbid_unknown_fields=True):
    """All that is sent at once. `sent_at` is the student's clock, in seconds since 1970."""

    schema: int
    lesson: str | None
    sent_at: Seconds1970
    records: Annotated[tuple[SharedRecord, ...], Meta(max_length=MAX_RECORDS)]
    checks: Annotated[tuple[SharedCheck, ...], Meta(max_length=MAX_CHECKS)]

    def __post_init__(self) -> None:
        if self.lesson is not None:
            _one_of(FORMER.get(self.lesson, self.lesson), LESSONS, "lesson")
        if len({one.id for one in self.records}) < len(self.records):
            raise RecordError(f"records has one of its {len(self.records)} twice")
        if len({one.exercise for one in self.checks}) < len(self.checks):
            raise RecordError(f"checks has one of its {len(self.checks)} twice")


def _one_of(value: str, words: Collection[str], name: str) -> None:
    if value not in words:
        raise RecordError(f"{name} should be one of {', '.join(words)}, found {value!r:.60}")


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as JSON-ready data, with keys in the order of the classes above."""
    data: dict[str, Any] = decoding.to_json(report)
    return data


def to_bytes(report: Report) -> bytes:
    """Return the report as JSON in UTF-8; if it is larger than MAX_BYTES, send fewer records."""
    return json.dumps(to_json(report), allow_nan=False, separators=(",", ":")).encode()


def from_bytes(body: bytes) -> Report:
    """Read a sent report; raises RecordError for anything but a report of at most MAX_BYTES."""
    if len(body) > MAX_BYTES:
        raise RecordError(f"a report has at most {MAX_BYTES:,} bytes, found {len(body):,}")
    try:
        data = json.loads(body.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, or nested without end
        raise RecordError(f"a report is JSON in UTF-8, found something else ({error!s:.60})") from None
    return from_json(data)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError("a name appears twice")
    return table


def from_json(data: object) -> Report:
    """Read a report; raises RecordError for an extra or missing field, or a wrong value."""
    schema = data.get("schema", SCHEMA) if isinstance(data, dict) else SCHEMA
    if schema != SCHEMA:
        raise RecordError(
            f"the report should have schema {SCHEMA}, found {schema!r:.60}: "
            "the student's and the hub's jupyter_mlgpu should have the same version"
        )
    return decoding.decode(Report, data, "the report")
