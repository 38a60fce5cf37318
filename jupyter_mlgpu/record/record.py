"""What was measured, as plain frozen data: one `Record` a cell, and its JSON.

A quantity that is not known is `None` and says why in `why_missing`; it is never 0 and never a guess. The
JSON form is described by `record.schema.json` beside this file, which is made of these types (`make
schemas`); `SCHEMA` is its version. Files of schema 1 are read, too (`schema_1.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record import schema_1 as record_schema_1
from jupyter_mlgpu.record.decoding import Count, Measured, Name, Share
from jupyter_mlgpu.record.devicewords import in_words
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import Sentence, say

SCHEMA = 2
#: A note of a record whose cell wrote more native lines than were read at its end.
STILL_READING = say(
    "This cell wrote many native lines, which are still being read; its record will have all of them."
)

Outcome = Literal["ok", "error", "interrupted"]
Mode = Literal["light", "profiled"]
Origin = Literal["live", "loaded", "replayed"]
Scope = Literal["cell", "process", "device", "machine"]
#: What kind of instrument took a reading; a reading's `detail` says which. `simulated`: nothing was measured.
Source = Literal[
    "clock",
    "operating system",
    "profiler",
    "allocator",
    "NVML",
    "RAPL",
    "Apple's energy model",
    "simulated",
    "other",
    "none",
]
Evidence = Literal["counted", "only device", "allocator", "results"]
APPLE: Source = "Apple's energy model"
OPERATING_SYSTEM: Source = "operating system"
Plane = Literal["host", "device"]
Verdict = Literal["harmless", "info", "performance", "action", "fatal", "unknown"]

#: Unit of each quantity a record holds, in the order in which records list them.
QUANTITIES: Mapping[str, str] = {
    "wall_time": "s",
    "cpu_time": "s",
    "device_time": "s",
    # Of a profiled cell alone: the part of it in which nothing ran on a device, from 0 to 1.
    "device_idle": "share",
    "peak_memory_process": "bytes",
    "peak_memory_allocator": "bytes",
    "peak_memory_device": "bytes",
    # In use when the cell had ended: what `growth.py` compares over the runs of a cell.
    "memory_process": "bytes",
    "memory_allocator": "bytes",
    "energy": "J",
}


class Reading(Struct, frozen=True, omit_defaults=True):
    """One measured quantity, or the reason why it could not be measured.

    `unit` is s (seconds), bytes, J (joules) or share (0 to 1). `scope` says what the figure covers: this
    cell, the whole process, one device or the machine. `source` is the kind of instrument, `detail` which one
    and how it is read, in words. `device` is the device that the figure is of, as that instrument names it
    (`gpu:0`, `GPU 0 (NVIDIA H200)`); None where it is of none. `samples` is how many measurements the value
    rests on. `uncertainty` is the half width, in the same unit, of the interval around the value in which the
    true one lies as far as the counter's refresh and the moments of reading tell; the sensor's own error is
    not in it. None: not stated.
    """

    # A later version may have more quantities: one that is not known here is kept, and shown.
    quantity: Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{1,63}$")]
    # Bytes stay whole numbers: 723369984 and 723369984.0 take different room in a receipt.
    value: Measured | Count | None
    unit: Annotated[str, Meta(pattern="^[^\x00-\x1f\x7f-\x9f]{1,20}$")]
    scope: Scope
    source: Source
    samples: Count
    why_missing: Sentence | None = None
    uncertainty: Measured | None = None
    device: str | None = None
    detail: Sentence | None = None

    def __post_init__(self) -> None:
        if self.uncertainty is not None and (
            self.value is None or not (self.uncertainty == 0 or _LEAST <= self.uncertainty <= 1e18)
        ):
            raise RecordError(
                f"The reading {self.quantity!r} needs a value for its uncertainty, which is 0, or at least "
                f"{_LEAST:g}: found value {self.value!r} and uncertainty {self.uncertainty!r}."
            )
        if (self.value is None) == (self.why_missing is None):
            raise RecordError(
                f"The reading {self.quantity!r} needs either a value or a reason why there is none: "
                f"found value {self.value!r} and reason {self.why_missing!r}."
            )

    @property
    def instrument(self) -> str:
        """What measured it, in words for people."""
        return self.detail or self.source


#: The smallest uncertainty that is told in figures.
_LEAST = 1e-15


def missing(
    quantity: str,
    why: Sentence,
    *,
    scope: Scope = "cell",
    source: Source = "none",
    detail: Sentence | None = None,
    device: str | None = None,
) -> Reading:
    """A reading that could not be taken, with the reason in words a student understands."""
    return Reading(quantity, None, QUANTITIES[quantity], scope, source, 0, why, device=device, detail=detail)


class RanOn(Struct, frozen=True):
    """One device on which operations of the cell ran.

    `device` is our short name (`cpu:0`), `native_name` the framework's own. `operations` counts eager
    operations and the operations of every graph that was called, once a call; bodies of loops inside
    a graph count once. `share` is this device's part of the operations counted, from 0 to 1: it is
    not a share of time.

    `evidence` says how it is known that the device worked for the cell: `counted` (operations were),
    `only device` (the framework worked, and could nowhere else), `allocator` (its allocator of this
    device gave out memory), `results` (arrays that the cell made are there). The last two say nothing of
    what else ran elsewhere. None in records from before it was told.
    """

    framework: Name
    device: Name
    kind: str
    native_name: str | None
    operations: Count | None
    share: Share | None
    why_missing: Sentence | None = None
    evidence: Evidence | None = None


class DeviceUse(Struct, frozen=True):
    """The devices asked for, and those the work really ran on (None: not known, see `why_missing`).

    `requested` maps frameworks to the device asked for, numbered where it is known to exist;
    `devicewords.EVERY` stands for all that it does not name. Empty: the frameworks choose. `only` maps
    frameworks to the one device on which anything of theirs can have run; whether anything did is not known.
    """

    requested: Mapping[str, str]
    ran_on: tuple[RanOn, ...] | None
    why_missing: Sentence | None = None
    only: Mapping[str, str] = {}

    @property
    def asked_for(self) -> str:
        """The devices asked for in words, `gpu:0` or `torch gpu:0, jax cpu:0`; empty where none was."""
        return in_words(self.requested)


class Run(Struct, frozen=True):
    """One kernel process (or script) from start to end.

    `host_digest` tells machines apart without naming them: the first 12 hexadecimal digits of the
    SHA-256 of the host's name. `engine` numbers the engine of a parallel run, None elsewhere.
    """

    id: Name
    notebook: str | None
    host_digest: str
    engine: str | None = None


class Cell(Struct, frozen=True):
    """Which cell (or traced block) was measured; with the run's id, `sequence` identifies a record.

    `id` and `execution_count` are None where the front end sends none. `source_digest` is the start of the
    SHA-256 of the code, so that re-runs of the same code can be recognised without storing it. `name` is the
    first line of the code, redacted.
    """

    sequence: Count
    id: str | None
    execution_count: Count | None
    source_digest: str | None
    name: str


class LogLine(Struct, frozen=True):
    """One native log message of the cell; `id` is None where it is not known what it means.

    `count` says how often it came, `late` that it arrived after the cell had ended.
    """

    text: str
    id: str | None
    verdict: Verdict
    meaning: str | None
    advice: str | None
    fields: Mapping[str, Any]
    count: Count
    stream: str
    time: str | None
    late: bool

    def to_json(self) -> dict[str, Any]:
        """The message as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        return data


class OpStat(Struct, frozen=True):
    """Time of one operation in a profiled cell; times in seconds, longer than in a light run.

    `plane` is host (threads) or device (streams), None in records from before it was kept. `share` is the
    self time's part of all busy time of that plane and device, from 0 to 1. `bytes` (copied) and `flops` are
    sums over the calls; these and the input `shapes` are None where the profiler does not tell them.
    """

    name: str
    type: str
    device: str
    count: Count
    self_time: Measured
    total_time: Measured
    profiler: Sentence
    plane: Plane | None = None
    share: Share | None = None
    shapes: str | None = None
    bytes: Count | None = None
    flops: Annotated[float, Meta(ge=0)] | None = None


class Fact(Struct, frozen=True):
    """A named piece of knowledge about the cell, with where it comes from."""

    value: Any
    source: Sentence


class Record(Struct, frozen=True):
    """Everything known about one cell.

    `started_monotonic_ns` is the moment of `started_at` on the kernel's own clock: only differences within a
    run mean something. `notes` are sentences for the reader.
    """

    run: Run
    cell: Cell
    started_at: Annotated[str, Meta(description="UTC: 2026-01-31T12:00:00.000000Z.")]
    started_monotonic_ns: int
    outcome: Outcome
    device: DeviceUse
    readings: tuple[Reading, ...]
    logs: tuple[LogLine, ...] = ()
    ops: tuple[OpStat, ...] = ()
    facts: Mapping[str, Fact] = {}
    versions: Mapping[str, str] = {}
    mode: Mode = "light"
    origin: Origin = "live"
    notes: tuple[Sentence, ...] = ()
    schema: int = SCHEMA

    @property
    def key(self) -> tuple[str, int]:
        """The record's identity: run id and sequence."""
        return (self.run.id, self.cell.sequence)

    @property
    def code(self) -> tuple[str, str | None, str | None]:
        """What all runs of one cell have in common: the run's id, the cell's, and the digest of its code."""
        return (self.run.id, self.cell.id, self.cell.source_digest)

    def find(self, quantity: str) -> Reading | None:
        """The first reading of a quantity that has a value."""
        return next(
            (one for one in self.readings if one.quantity == quantity and one.value is not None), None
        )

    def reading(self, quantity: str) -> Reading:
        """The first reading of a quantity; raises RecordError for a quantity the record does not hold."""
        for reading in self.readings:
            if reading.quantity == quantity:
                return reading
        known = ", ".join(reading.quantity for reading in self.readings)
        raise RecordError(f"This record holds no reading {quantity!r}; it holds: {known}.")

    def to_json(self, texts: bool = True) -> dict[str, Any]:
        """The record as JSON-ready data, keys in the order of the schema; `texts` as in decoding.to_json."""
        data: dict[str, Any] = decoding.to_json(self, texts)
        return {"schema": data.pop("schema"), **data}

    @classmethod
    def from_json(cls, data: object) -> Record:
        """Read a record back, whoever wrote it; unknown keys are ignored.

        Raises NewerSchemaError for a record of a later version, RecordError for anything that is no record.
        """
        if decoding.schema_of(data, SCHEMA, "the record") == 1 and isinstance(data, dict):
            data = record_schema_1.upgraded(data)
        record = decoding.decode(cls, data, "the record")
        _check(record)
        return replace(record, schema=SCHEMA)

    def with_note(self, note: Sentence) -> Record:
        """The same record with one more sentence for the reader."""
        return replace(self, notes=(*self.notes, note))

    def with_logs(
        self,
        lines: Iterable[LogLine],
        facts: Mapping[str, Fact] | None = None,
        notes: Iterable[Sentence] = (),
    ) -> Record:
        """The same record with more log messages, what they tell, and what was lost of them."""
        return replace(
            self,
            logs=(*self.logs, *lines),
            facts={**(facts or {}), **self.facts},
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def with_all_logs(
        self, lines: Iterable[LogLine], facts: Mapping[str, Fact], notes: Iterable[Sentence]
    ) -> Record:
        """The same record with all messages of its cell, in place of the part of them that it had."""
        return replace(
            self,
            logs=(*lines, *(line for line in self.logs if line.late)),
            notes=tuple(note for note in self.notes if note != STILL_READING),
        ).with_logs((), facts, notes)

    def with_origin(self, origin: Origin) -> Record:
        """The same record, labelled with where it comes from."""
        return replace(self, origin=origin)


def _check(record: Record) -> None:
    """What no single field tells."""
    try:
        zone = datetime.fromisoformat(record.started_at).tzinfo
    except ValueError:
        zone = None
    if zone is None:
        raise RecordError(
            "started_at should be a date with time and zone (2026-01-31T12:00:00.000000Z), "
            f"found {record.started_at!r:.60}"
        )
    for number, one in enumerate(record.readings):
        unit = QUANTITIES.get(one.quantity, one.unit)
        if one.unit != unit:
            raise RecordError(
                f"readings[{number}].unit of {one.quantity} should be {unit}, found {one.unit!r}"
            )
        if unit == "share" and not 0 <= (one.value or 0) <= 1:
            raise RecordError(f"readings[{number}].value should be a share from 0 to 1, found {one.value!r}")
    if all(one.quantity != "wall_time" for one in record.readings):
        raise RecordError("readings should have one of 'wall_time', if only to say why it is missing")
