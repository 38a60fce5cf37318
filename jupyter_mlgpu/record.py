"""What was measured, as plain frozen data: one `Record` a cell, and its JSON.

Only the standard library, no input or output. A quantity that is not known is `None` and says why
in `why_missing`; it is never 0 and never a guess. The JSON form is described by `record.schema.json`
beside this file; `SCHEMA` is its version.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from jupyter_mlgpu import record_schema_1, rules
from jupyter_mlgpu.devicewords import in_words
from jupyter_mlgpu.errors import NewerSchemaError, RecordError
from jupyter_mlgpu.plain import build, build_all, choice_of, field_of, optional_of, table_of, to_plain

SCHEMA = 1
#: A note of a record whose cell wrote more native lines than were read at its end.
STILL_READING = (
    "This cell wrote many native lines, which are still being read; its record will have all of them."
)

Outcome = Literal["ok", "error", "interrupted"]
Mode = Literal["light", "profiled"]
Origin = Literal["live", "loaded", "replayed"]
Scope = Literal["cell", "process", "device", "machine"]

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


@dataclass(frozen=True, slots=True)
class Reading:
    """One measured quantity, or the reason why it could not be measured.

    `unit` is s (seconds), bytes, J (joules) or share (0 to 1). `scope` says what the figure covers: this
    cell, the whole process, one device or the machine. `samples` is how many measurements the value rests on.
    `uncertainty` is the half width, in the same unit, of the interval around the value in which the true one
    lies as far as the counter's refresh and the moments of reading tell; the sensor's own error is not in it.
    None: not stated. `device` is the one that the figure is of; None where it is of none.
    """

    quantity: str
    value: float | None
    unit: str
    scope: Scope
    source: str
    samples: int
    why_missing: str | None = None
    uncertainty: float | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        if self.uncertainty is not None and (self.value is None or not 0 <= self.uncertainty < math.inf):
            raise RecordError(
                f"The reading {self.quantity!r} needs a value for its uncertainty, a number of at least 0: "
                f"found value {self.value!r} and uncertainty {self.uncertainty!r}."
            )
        if (self.value is None) == (self.why_missing is None):
            raise RecordError(
                f"The reading {self.quantity!r} needs either a value or a reason why there is none: "
                f"found value {self.value!r} and reason {self.why_missing!r}."
            )


def missing(quantity: str, why: str, *, scope: Scope = "cell", source: str = "none") -> Reading:
    """A reading that could not be taken, with the reason in words a student understands."""
    return Reading(quantity, None, QUANTITIES[quantity], scope, source, 0, why)


@dataclass(frozen=True, slots=True)
class RanOn:
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

    framework: str
    device: str
    kind: str
    native_name: str | None
    operations: int | None
    share: float | None
    why_missing: str | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class DeviceUse:
    """The devices asked for, and those the work really ran on (None: not known, see `why_missing`).

    `requested` maps frameworks to the device asked for, numbered where it is known to exist;
    `devicewords.EVERY` stands for all that it does not name. Empty: the frameworks choose. `only` maps
    frameworks to the one device on which anything of theirs can have run; whether anything did is not known.
    """

    requested: Mapping[str, str]
    ran_on: tuple[RanOn, ...] | None
    why_missing: str | None = None
    only: Mapping[str, str] = field(default_factory=dict)

    @property
    def asked_for(self) -> str:
        """The devices asked for in words, `gpu:0` or `torch gpu:0, jax cpu:0`; empty where none was."""
        return in_words(self.requested)


@dataclass(frozen=True, slots=True)
class Run:
    """One kernel process (or script) from start to end.

    `host_digest` tells machines apart without naming them: the first 12 hexadecimal digits of the
    SHA-256 of the host's name. `engine` numbers the engine of a parallel run, None elsewhere.
    """

    id: str
    notebook: str | None
    host_digest: str
    engine: str | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """Which cell (or traced block) was measured; with the run's id, `sequence` identifies a record.

    `id` and `execution_count` are None where the front end sends none. `source_digest` is the start of
    the SHA-256 of the code, so that re-runs of the same code can be recognised without storing it.
    """

    sequence: int
    id: str | None
    execution_count: int | None
    source_digest: str | None
    name: str


@dataclass(frozen=True, slots=True)
class LogLine:
    """One native log message of the cell; `id` is None where it is not known what it means.

    `count` says how often it came, `late` that it arrived after the cell had ended.
    """

    text: str
    id: str | None
    verdict: str
    meaning: str | None
    advice: str | None
    fields: Mapping[str, Any]
    count: int
    stream: str
    time: str | None
    late: bool

    def to_json(self) -> dict[str, Any]:
        """The message as JSON-ready data."""
        data: dict[str, Any] = to_plain(self)
        return data


@dataclass(frozen=True, slots=True)
class OpStat:
    """Time of one operation in a profiled cell; times in seconds, longer than in a light run.

    `plane` is host (threads) or device (streams), None in records from before it was kept. `share` is the
    self time's part of all busy time of that plane and device, from 0 to 1. `bytes` (copied) and `flops` are
    sums over the calls; these and the input `shapes` are None where the profiler does not tell them.
    """

    name: str
    type: str
    device: str
    count: int
    self_time: float
    total_time: float
    profiler: str
    plane: str | None = None
    share: float | None = None
    shapes: str | None = None
    bytes: int | None = None
    flops: float | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A named piece of knowledge about the cell, with where it comes from."""

    value: Any
    source: str


@dataclass(frozen=True, slots=True)
class Record:
    """Everything known about one cell. See the package's record.schema.json for the JSON form."""

    run: Run
    cell: Cell
    started_at: str
    started_monotonic_ns: int
    outcome: Outcome
    device: DeviceUse
    readings: tuple[Reading, ...]
    logs: tuple[LogLine, ...] = ()
    ops: tuple[OpStat, ...] = ()
    facts: Mapping[str, Fact] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = "light"
    origin: Origin = "live"
    notes: tuple[str, ...] = ()
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

    def to_json(self) -> dict[str, Any]:
        """The record as JSON-ready data, keys in the order of the schema."""
        data = to_plain(self)
        for reading in data["readings"]:
            for name in ("uncertainty", "device"):
                if reading[name] is None:  # most have none, and a notebook holds many receipts
                    del reading[name]
        return {"schema": data.pop("schema"), **data}

    @classmethod
    def from_json(cls, data: object) -> Record:
        """Read a record back, whoever wrote it; unknown keys are ignored.

        Raises NewerSchemaError for a record of a later version, RecordError for anything that is no record.
        """
        table = table_of(data, "the record")
        schema = field_of(table, "schema", int, "the record")
        if schema > SCHEMA:
            raise NewerSchemaError(
                f"the record has schema {schema}, this jupyter_mlgpu reads up to {SCHEMA}: "
                "update with `pip install --upgrade jupyter_mlgpu`"
            )
        # After the schema, for a later version may have other rules.
        rules.refuse_what_cannot_be_saved(table, "the record")
        table = record_schema_1.upgraded(table)
        device = field_of(table, "device", dict, "the record")
        ran_on = device.get("ran_on")
        return cls(
            run=build(Run, table.get("run"), "run", rules.OF["Run"]),
            cell=build(Cell, table.get("cell"), "cell", rules.OF["Cell"]),
            started_at=_date(table),
            started_monotonic_ns=field_of(table, "started_monotonic_ns", int, "the record"),
            outcome=choice_of(table, "outcome", get_args(Outcome)),
            device=DeviceUse(
                requested=_texts(device, "requested", "device"),
                ran_on=None
                if ran_on is None
                else build_all(RanOn, ran_on, "device.ran_on", rules.OF["RanOn"]),
                why_missing=optional_of(device, "why_missing", str, "device"),
                only=_texts(device, "only", "device"),
            ),
            readings=_readings(table.get("readings")),
            logs=build_all(LogLine, table.get("logs", []), "logs", rules.OF["LogLine"]),
            ops=build_all(OpStat, table.get("ops", []), "ops", rules.OF["OpStat"]),
            facts={
                name: build(Fact, fact, f"facts.{name!r:.60}")
                for name, fact in table_of(table.get("facts", {}), "facts").items()
            },
            versions=_texts(table, "versions", "the record"),
            mode=choice_of(table, "mode", get_args(Mode)),
            origin=choice_of(table, "origin", get_args(Origin)),
            notes=_notes(table.get("notes", [])),
            schema=schema,
        )

    def with_note(self, note: str) -> Record:
        """The same record with one more sentence for the reader."""
        return dataclasses.replace(self, notes=(*self.notes, note))

    def with_logs(
        self, lines: Iterable[LogLine], facts: Mapping[str, Fact] | None = None, notes: Iterable[str] = ()
    ) -> Record:
        """The same record with more log messages, what they tell, and what was lost of them."""
        return dataclasses.replace(
            self,
            logs=(*self.logs, *lines),
            facts={**(facts or {}), **self.facts},
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def with_all_logs(
        self, lines: Iterable[LogLine], facts: Mapping[str, Fact], notes: Iterable[str]
    ) -> Record:
        """The same record with all messages of its cell, in place of the part of them that it had."""
        return dataclasses.replace(
            self,
            logs=(*lines, *(line for line in self.logs if line.late)),
            notes=tuple(note for note in self.notes if note != STILL_READING),
        ).with_logs((), facts, notes)

    def with_origin(self, origin: Origin) -> Record:
        """The same record, labelled with where it comes from."""
        return dataclasses.replace(self, origin=origin)


def _readings(data: object) -> tuple[Reading, ...]:
    """Readings of a record that was read. One of a quantity that is not known here is kept as it is."""
    readings = build_all(Reading, data, "readings", rules.OF["Reading"])
    for number, one in enumerate(readings):
        unit = QUANTITIES.get(one.quantity, one.unit)
        if one.unit != unit:
            raise RecordError(
                f"readings[{number}].unit of {one.quantity} should be {unit}, found {one.unit!r}"
            )
        if unit == "share" and not 0 <= (one.value or 0) <= 1:
            raise RecordError(f"readings[{number}].value should be a share from 0 to 1, found {one.value!r}")
    if all(one.quantity != "wall_time" for one in readings):
        raise RecordError("readings should have one of 'wall_time', if only to say why it is missing")
    return readings


def _date(table: Mapping[str, Any]) -> str:
    found = field_of(table, "started_at", str, "the record")
    if not rules.DATE.holds(found):
        raise RecordError(f"'started_at' should be {rules.DATE.words}, found {found!r:.60}")
    return found


def _notes(data: object) -> tuple[str, ...]:
    if not isinstance(data, list) or not all(isinstance(one, str) for one in data):
        raise RecordError(f"notes should be a list of texts, found {data!r:.60}")
    return tuple(data)


def _texts(table: Mapping[str, Any], name: str, where: str) -> dict[str, str]:
    """A table of texts, which need not be there."""
    texts = table_of(table.get(name, {}), name)
    for key in texts:
        field_of(texts, key, str, f"{name} of {where}")
    return texts
