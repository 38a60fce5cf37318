"""A report to the teacher's view: what of the records leaves a student's kernel, and its JSON, read strictly.

Only the standard library, no input or output. Nothing here is free text: a string is one of a closed list, or
fits a narrow pattern of digits. So no code, log line, path, file name, notebook's name, host or user can be
in a report, whatever a record holds. Why a quantity is not known stays in the student's receipt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.frameworks import registry
from jupyter_mlgpu.plain import table_of, to_plain
from jupyter_mlgpu.record import QUANTITIES, Outcome, Scope
from jupyter_mlgpu.sharing.strict import (
    Check,
    all_different,
    build,
    each,
    fitting,
    number,
    one_of,
    or_none,
    whole,
    yes_or_no,
)

SCHEMA = 1

#: A report's size at most, in bytes of UTF-8; records and checks in one; readings of one record.
MAX_BYTES = 256_000
MAX_RECORDS = 100
MAX_CHECKS = 100
MAX_READINGS = 32

#: Which of a record's quantities leave, and their units.
SHARED: Mapping[str, str] = {
    name: QUANTITIES[name]
    for name in (
        "wall_time",
        "device_time",
        "peak_memory_process",
        "peak_memory_allocator",
        "peak_memory_device",
        "energy",
    )
}
OUTCOMES: tuple[str, ...] = get_args(Outcome)
SCOPES: tuple[str, ...] = get_args(Scope)
#: A hub knows those alone that come with the package; a record of another leaves without its name.
FRAMEWORKS = registry.OWN
#: Kinds of devices; one that is not in the list leaves as "other".
DEVICES = ("cpu", "cuda", "metal", "rocm", "tpu", "other")

#: How the source of a reading begins in a record, and the word that leaves for it; "other" for any other.
SOURCES: Mapping[str, str] = {
    "time.perf_counter_ns": "clock",
    "TensorFlow's profiler": "profiler",
    "PyTorch's profiler": "profiler",
    "JAX's profiler": "profiler",
    "VmHWM of /proc/self/status": "operating system",
    "psutil resident set": "operating system",
    "tf.config.experimental.get_memory_info": "allocator",
    "torch.cuda.max_memory_allocated": "allocator",
    "Device.memory_stats": "allocator",
    "mlx.core.get_peak_memory": "allocator",
    "NVML": "NVML",
    "RAPL": "RAPL",
    "Apple's energy model": "Apple's energy model",
    "none": "none",
}
_SOURCE_WORDS = (*dict.fromkeys(SOURCES.values()), "other")

#: The packaged lessons, and their exercises; `lessons/exercises` has what these ask.
LESSONS: Mapping[str, tuple[str, ...]] = {
    "00_start_here": (),
    "01_adding_tensors": ("add_three",),
    "02_devices": ("fair_time", "flops_per_byte"),
    "03_reading_the_machine": ("severity", "product_on"),
    "04_how_fast_can_it_be": ("teraflops", "roof"),
    "05_eager_and_graph": ("one_graph", "scores"),
    "06_gradients": ("layer_back", "tanh_back"),
    "07_a_cnn": ("convolve", "weights"),
    "08_memory": ("activation_bytes", "worth_keeping", "peak_at"),
    "09_throughput": ("images_per_second", "images_per_joule", "large_enough"),
    "10_words_to_numbers": ("split_word", "ppmi"),
    "11_attention": ("attention_weights", "causal_weights"),
    "12_bert_from_nothing": ("disguise", "masked_loss"),
    "13_fine_tuning": ("pool", "few"),
    "14_beyond_one_machine": ("shares", "together", "speed_up"),
}
EXERCISES = tuple(exercise for names in LESSONS.values() for exercise in names)

RUN = re.compile(r"[0-9a-f]{32}")
ID = re.compile(r"[0-9a-f]{32}-[0-9]{1,9}")
VERSION = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,5}){0,4}(?![0-9])")

LARGEST = 10**18
LATEST = 10**11  # seconds since 1970, far beyond any clock that is set
MOST = 10**9 - 1


@dataclass(frozen=True, slots=True)
class SharedReading:
    """One quantity in its unit; no `value` where it was not measured: the student's receipt says why."""

    quantity: str
    value: float | None
    unit: str
    scope: str
    source: str
    samples: int


@dataclass(frozen=True, slots=True)
class SharedRecord:
    """One cell. `id` is `run` and `number` with a hyphen between; `started_at` in seconds since 1970.

    `framework`, its version and the kind of `device` are those of the place where most of the counted
    operations ran; None where none is known. `wall_time` has no value where a profiler was on.
    """

    id: str
    run: str
    number: int
    started_at: float
    outcome: str
    framework: str | None
    framework_version: str | None
    device: str | None
    readings: tuple[SharedReading, ...]


@dataclass(frozen=True, slots=True)
class SharedCheck:
    """One exercise: whether an answer was right since sharing began, and how many answers were tried."""

    exercise: str
    passed: bool
    tries: int


@dataclass(frozen=True, slots=True)
class Report:
    """What is sent at once. `sent_at` is the student's clock, in seconds since 1970."""

    schema: int
    lesson: str | None
    sent_at: float
    records: tuple[SharedRecord, ...]
    checks: tuple[SharedCheck, ...]


def to_json(report: Report) -> dict[str, Any]:
    """The report as JSON-ready data, keys in the order of the classes above."""
    data: dict[str, Any] = to_plain(report)
    return data


def to_bytes(report: Report) -> bytes:
    """The report as it is sent: JSON in UTF-8. It may be larger than MAX_BYTES: then send fewer records."""
    return json.dumps(to_json(report), allow_nan=False, separators=(",", ":")).encode()


def from_bytes(body: bytes) -> Report:
    """Read what was sent. Raises RecordError, a sentence, for anything but a report of at most MAX_BYTES."""
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
        raise ValueError("a name stands twice")
    return table


def from_json(data: object) -> Report:
    """Read a report back. Raises RecordError for a field too many, too few or with a wrong value."""
    table = table_of(data, "the report")
    if table.get("schema") != SCHEMA:
        raise RecordError(
            f"the report should have schema {SCHEMA}, found {table.get('schema')!r:.60}: "
            "the student's and the hub's jupyter_mlgpu should have the same version"
        )
    report = build(Report, _REPORT, table, "the report")
    all_different([one.id for one in report.records], "records")
    all_different([one.exercise for one in report.checks], "checks")
    return report


def _record(data: object, where: str) -> SharedRecord:
    record = build(SharedRecord, _RECORD, data, where)
    if record.id != f"{record.run}-{record.number}":
        raise RecordError(f"{where}.id should be its run and its number, found {record.id!r:.60}")
    if record.framework is None and record.framework_version is not None:
        raise RecordError(f"{where} has a version of no framework")
    return record


def _reading(data: object, where: str) -> SharedReading:
    reading = build(SharedReading, _READING, data, where)
    if reading.unit != SHARED[reading.quantity]:
        raise RecordError(
            f"{where}.unit should be {SHARED[reading.quantity]} for {reading.quantity}, found {reading.unit}"
        )
    return reading


_READING: Mapping[str, Check] = {
    "quantity": one_of(SHARED),
    "value": or_none(number(LARGEST)),
    "unit": one_of(dict.fromkeys(SHARED.values())),
    "scope": one_of(SCOPES),
    "source": one_of(_SOURCE_WORDS),
    "samples": whole(0, MOST),
}
_RECORD: Mapping[str, Check] = {
    "id": fitting(ID, "a run's id, a hyphen and a number"),
    "run": fitting(RUN, "32 hexadecimal digits"),
    "number": whole(1, MOST),
    "started_at": number(LATEST),
    "outcome": one_of(OUTCOMES),
    "framework": or_none(one_of(FRAMEWORKS)),
    "framework_version": or_none(fitting(VERSION, "digits and dots")),
    "device": or_none(one_of(DEVICES)),
    "readings": each(_reading, MAX_READINGS),
}
_CHECK: Mapping[str, Check] = {
    "exercise": one_of(EXERCISES),
    "passed": yes_or_no,
    "tries": whole(1, MOST),
}
_REPORT: Mapping[str, Check] = {
    "schema": whole(SCHEMA, SCHEMA),
    "lesson": or_none(one_of(LESSONS)),
    "sent_at": number(LATEST),
    "records": each(_record, MAX_RECORDS),
    "checks": each(lambda data, where: build(SharedCheck, _CHECK, data, where), MAX_CHECKS),
}
