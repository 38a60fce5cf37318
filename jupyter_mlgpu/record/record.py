"""What was measured, as plain frozen data: one `Record` a cell, and its JSON.

A quantity that is not known is `None` and says why in `why_missing`; it is never 0 and never a guess. The
JSON form is described by `record.schema.json` beside this file, which is made of these types (`make
schemas`); `SCHEMA` is its version.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.bounds import Called, Most, Otherwise, Printed, Unread
from jupyter_mlgpu.record.decoding import Count, Measured, Name, Share
from jupyter_mlgpu.record.device_request import in_words
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.gpu_work import STILL_AT_WORK, GpuFigures, GpuWork, may_go_on
from jupyter_mlgpu.record.limit import HotLine, Limit
from jupyter_mlgpu.record.native import READ_LINE, NativeOutput
from jupyter_mlgpu.record.not_measured import gathered, spread
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.strip import HostLane

SCHEMA = 2
#: What is not written where there is none: records had none of it at first.
_LEFT_OUT = (
    "limit",
    "why_no_limit",
    "lines",
    "native",
    "gpu_work",
    "asynchronous",
    "host_lane",
    "repeat",
)
_LEFT_OUT_OF_NOTEBOOKS = frozenset(
    ("logs", "ops", "facts", "versions", "notes", "engine", "only", "why_missing", "evidence")
)
#: A note of a record whose cell wrote more native lines than were read at its end.
STILL_READING = say(
    "This cell wrote many native lines that are still being read; its record will contain all of them."
)

#: The fact of a profiled cell that says which roof its work stands under: framework, device, type.
WORKED_IN = "worked_in"
#: After a framework's name, that of a fact: a profile of ours was taken, and read in so many seconds.
PROFILE_READ = "_profile_read_in_seconds"

#: The fact of a lesson's cell that computes nothing: what it holds alone.
HOLDS_ONLY = "holds_only"

Outcome = Literal["ok", "error", "interrupted"]
Mode = Literal["light", "profiled"]
Origin = Literal["live", "loaded", "replayed"]
Evidence = Literal["counted", "only device", "allocator", "results", "driver"]
#: Evidence that a device was used, which says nothing of what else ran elsewhere.
PARTIAL_EVIDENCE: frozenset[Evidence | None] = frozenset(("allocator", "results", "driver"))
Plane = Literal["host", "device"]
Verdict = Literal["harmless", "info", "performance", "action", "fatal", "unknown"]


#: What a browser reads: runs of a cell that repeats, characters of what a log message means, operations, and
#: characters of one's name: a kernel's can fill a page.
READ_RUNS, READ_EXPLANATION, READ_OPERATIONS, READ_NAME = 1_002, 1_200, 1_000, 200
Explanation = Annotated[str, Printed(), Most(READ_EXPLANATION)]
OperationName = Annotated[str, Printed(), Most(READ_NAME)]


class RanOn(Struct, frozen=True):
    """One device on which operations of the cell ran.

    `device` is our short name (`cpu:0`), `native_name` the framework's own. `operations` counts eager
    operations and the operations of every graph that was called, once a call; bodies of loops inside
    a graph count once. `share` is this device's part of the operations counted, from 0 to 1: it is
    not a share of time.

    `evidence` says how it is known that the device worked for the cell: `counted` (operations were),
    `only device` (the framework worked, and could nowhere else), `allocator` (its allocator of this
    device gave out memory), `results` (arrays that the cell made are there), `driver` (the driver counted
    time for the process on this GPU, which only this framework can use there). The last three say nothing of
    what else ran elsewhere. None in records from before it was told.
    """

    framework: Annotated[Name, Otherwise("")]
    device: Name
    kind: Annotated[str, Otherwise("")]
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
    why_missing: Annotated[Sentence | None, Unread()] = None
    only: Annotated[Mapping[str, str], Unread()] = {}

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
    host_digest: Annotated[str, Unread()]
    engine: Annotated[str | None, Unread()] = None


class Cell(Struct, frozen=True):
    """Which cell (or traced block) was measured; with the run's id, `sequence` identifies a record.

    `id` and `execution_count` are None where the front end sends none. `source_digest` is the start of the
    SHA-256 of the code, so that re-runs of the same code can be recognised without storing it. `name` is the
    line of the code that tells most of it, redacted.
    """

    sequence: Count
    id: str | None
    execution_count: Count | None
    source_digest: Annotated[str | None, Called("digest")]
    name: Annotated[str, Otherwise("")]


class Repeat(Struct, frozen=True):
    """Which run of a cell that repeats a record is.

    Number 0 warms up, 1 to `of` are the timing, and the one after them is the profiler's. `walls` are the
    seconds of the runs before it, in the last of its records alone: None where one was not measured.
    """

    number: Count
    of: Count
    walls: Annotated[tuple[Measured | None, ...], Most(READ_RUNS)] = ()


class LogLine(Struct, frozen=True):
    """One native log message of the cell; `id` is None where it is not known what it means.

    `count` says how often it came, `late` that it arrived after the cell had ended.
    """

    text: Annotated[str, Printed(), Most(READ_LINE)]
    id: str | None
    verdict: Annotated[Verdict, Otherwise("unknown")]
    meaning: Explanation | None
    advice: Explanation | None
    fields: Mapping[str, Any]
    count: Annotated[Count, Otherwise(1)]
    stream: Annotated[str, Otherwise("")]
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

    name: OperationName
    type: Annotated[OperationName, Otherwise("")]
    device: Annotated[str, Otherwise("")]
    count: Count
    self_time: Measured
    total_time: Measured
    profiler: Annotated[Sentence, Otherwise("")]
    plane: Plane | None = None
    share: Share | None = None
    shapes: OperationName | None = None
    bytes: Count | None = None
    flops: Annotated[float, Meta(ge=0)] | None = None


class Fact(Struct, frozen=True):
    """A named piece of knowledge about the cell, with where it comes from."""

    value: Any
    source: Sentence


class Record(Struct, frozen=True):
    """Everything known about one cell.

    `started_monotonic_ns` is the moment of `started_at` on the kernel's own clock: only differences within a
    run mean something. `limit` is what the cell spent most of its time on; where that is None,
    `why_no_limit` says why, but in records from before it was told. `lines` are those of the code at which
    the cell was seen most, the most often first. `native` says which lines of its output are native, None
    where that is not known. `gpu_work` is what each GPU did, of those whose work was recorded. `repeat` is
    None but for a run of a cell that repeats. `notes` are sentences for the reader. `not_measured` is there
    in a notebook's file alone, in the place of the readings without a value.
    """

    run: Run
    cell: Cell
    started_at: Annotated[str, Meta(description="UTC: 2026-01-31T12:00:00.000000Z."), Otherwise("")]
    started_monotonic_ns: Annotated[int, Unread()]
    outcome: Outcome
    device: DeviceUse
    readings: Annotated[tuple[Reading, ...], Otherwise(())]
    logs: Annotated[tuple[LogLine, ...], Unread()] = ()
    ops: Annotated[tuple[OpStat, ...], Most(READ_OPERATIONS)] = ()
    facts: Annotated[Mapping[str, Fact], Unread()] = {}
    versions: Mapping[str, str] = {}
    mode: Mode = "light"
    origin: Origin = "live"
    notes: tuple[Sentence, ...] = ()
    limit: Annotated[Limit | None, Unread()] = None
    why_no_limit: Annotated[Sentence | None, Unread()] = None
    lines: Annotated[tuple[HotLine, ...], Unread()] = ()
    native: NativeOutput | None = None
    gpu_work: tuple[GpuWork, ...] = ()
    asynchronous: bool = False
    host_lane: HostLane | None = None
    repeat: Repeat | None = None
    schema: Annotated[int, Unread()] = SCHEMA

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
        for name in _LEFT_OUT:
            if not data[name]:
                del data[name]
        return {"schema": data.pop("schema"), **data}

    def to_notebook(self) -> dict[str, Any]:
        """The same for a notebook's file, in little room.

        A view makes the texts, reasons stand once, and nothing stands for what there is none of.
        """
        readings, saved = gathered(self.readings)
        data = replace(self, readings=readings).to_json(texts=False) | saved
        device = data["device"]
        for table in (data, data["run"], device, *(device["ran_on"] or ())):
            for name in _LEFT_OUT_OF_NOTEBOOKS & table.keys():
                if not table[name]:
                    del table[name]
        return data

    @classmethod
    def from_json(cls, data: object) -> Record:
        """Read a record back, whoever wrote it; unknown keys are ignored.

        Raises NewerSchemaError for a record of a later version, RecordError for anything else but a record.
        """
        decoding.check_schema(data, SCHEMA, "the record")
        record = decoding.decode(cls, data, "the record")
        record = replace(record, readings=spread(record.readings, data))
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

    def with_gpu(self, figures: GpuFigures) -> Record:
        """The same record with what its GPUs did, in the place of what was known of it."""
        others = [one for one in self.readings if one.quantity != "device_time"]
        at = next((at for at, one in enumerate(self.readings) if one.quantity == "device_time"), len(others))
        return replace(
            self,
            readings=(*others[:at], *figures.readings, *others[at:]),
            gpu_work=figures.work,
            asynchronous=self.asynchronous and may_go_on(figures),
        )

    @property
    def duration(self) -> float | None:
        """Seconds until the code and all that it gave to GPUs had ended; None where that is not known."""
        wall = self.reading("wall_time").value
        if not self.asynchronous or wall is None:
            return wall
        known = all(one.value is not None for one in self.readings if one.quantity == "device_time")
        return wall + max((one.went_on for one in self.gpu_work), default=0.0) if known else None

    @property
    def unfinished(self) -> bool:
        """Whether it will be completed: with native lines that are still being read, or with GPU time."""
        return STILL_READING in self.notes or any(
            one.why_missing == STILL_AT_WORK for one in self.readings if one.quantity == "device_time"
        )

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
        unit = QUANTITIES[one.quantity].unit if one.quantity in QUANTITIES else one.unit
        if one.unit != unit:
            raise RecordError(
                f"readings[{number}].unit of {one.quantity} should be {unit}, found {one.unit!r}"
            )
        if unit == "share" and not 0 <= (one.value or 0) <= 1:
            raise RecordError(f"readings[{number}].value should be a share from 0 to 1, found {one.value!r}")
    if all(one.quantity != "wall_time" for one in record.readings):
        raise RecordError("readings should have one of 'wall_time', if only to say why it is missing")
