"""The measurements of a cell as plain frozen data, one `Record` per cell, and their JSON form.

An unknown quantity is `None` with a reason in `why_missing`. It is never 0 and never a guess.
`record.schema.json` beside this file describes the JSON form and is generated from these types (`make
schemas`). `SCHEMA` is its version.
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
from jupyter_mlgpu.record.not_measured import group_by_reason, ungroup
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.strip import HostLane

SCHEMA = 2
#: Fields that are not written if they are empty, because the first records did not have them.
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
#: The note of a record whose cell wrote more native lines than had been read at its end.
STILL_READING = say(
    "This cell wrote many native lines that are still being read; its record will contain all of them."
)

#: The reason of a record in which nothing shows that a framework worked, so that no place is missing.
NO_WORK_SEEN = say("No work of a framework was seen in this cell.")

#: The reason of a record of a cell whose results were checked.
CHECKED = say("The results of this cell were checked, which takes most of its time and memory.")

#: The fact of a profiled cell that names the peak rate it is compared with: framework, device, number type.
WORKED_IN = "worked_in"
#: Suffix after a framework's name of the fact with the seconds it took to read the package's own profile.
PROFILE_READ = "_profile_read_in_seconds"

#: The fact of a cell that left work for later: the variables whose values are not computed yet.
NOT_COMPUTED = "not_computed_yet"
#: The fact of a cell that computed work which earlier cells had left: their execution counts.
COMPUTED_FOR = "computed_for_cells"

#: The fact of a lesson's cell that does no computation, such as one with only definitions.
HOLDS_ONLY = "holds_only"

Outcome = Literal["ok", "error", "interrupted"]
Mode = Literal["light", "profiled", "checked"]
Origin = Literal["live", "loaded", "replayed"]
Evidence = Literal["counted", "only device", "allocator", "results", "driver", "values", "default device"]
#: Evidence that shows that a device was used, but not that all work ran there.
PARTIAL_EVIDENCE: frozenset[Evidence | None] = frozenset(
    ("allocator", "results", "driver", "values", "default device")
)
Plane = Literal["host", "device"]
Verdict = Literal["harmless", "info", "performance", "action", "fatal", "unknown"]
#: Verdicts of messages that ask the user for an action.
TO_ACT_ON: tuple[Verdict, ...] = ("fatal", "action")


#: Limits of what a browser reads: runs of a repeated cell, characters in the explanation of a log message,
#: operations, and characters in an operation's name. A kernel's name can fill a page.
READ_RUNS, READ_EXPLANATION, READ_OPERATIONS, READ_NAME = 1_002, 1_200, 1_000, 200
Explanation = Annotated[str, Printed(), Most(READ_EXPLANATION)]
OperationName = Annotated[str, Printed(), Most(READ_NAME)]


class RanOn(Struct, frozen=True):
    """One device on which operations of the cell ran.

    `device` is the package's short name (`cpu:0`), `native_name` the framework's own. `operations` counts
    eager operations and the operations of every graph that was called, once per call. Bodies of loops inside
    a graph count once. `share` is this device's part of the counted operations, from 0 to 1. It is not a
    share of time.

    `evidence` says how it is known that the device worked for the cell: `counted` (operations were counted),
    `only device` (the framework worked, and has only this device), `allocator` (its allocator for this device
    handed out memory), `results` (arrays that the cell made are there), `driver` (the driver counted busy
    time for the process on this GPU, which only this framework can use there), `values` (the tensors and
    modules that the cell's code names are there, and the framework computes where they are),
    `default device` (the framework worked, and this was its default device from the beginning to the end).
    All but the first two do not exclude that other work ran elsewhere. It is None in records of versions
    that did not have it yet.
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
    """The devices that were requested, and those on which the work ran (None: unknown, see `why_missing`).

    `requested` maps frameworks to the requested device, numbered if it is known to exist.
    `device_request.EVERY` stands for all frameworks that it does not name. Empty: the frameworks choose.
    `only` maps frameworks to the only device that their operations can have used. It is unknown if any
    operation ran there.
    """

    requested: Mapping[str, str]
    ran_on: tuple[RanOn, ...] | None
    why_missing: Annotated[Sentence | None, Unread()] = None
    only: Annotated[Mapping[str, str], Unread()] = {}

    @property
    def asked_for(self) -> str:
        """The requested devices, `gpu:0` or `torch gpu:0, jax cpu:0`. Empty if none was requested."""
        return in_words(self.requested)


class Run(Struct, frozen=True):
    """One kernel process (or script) from start to end.

    `host_digest` distinguishes machines without naming them: the first 12 hexadecimal digits of the SHA-256
    of the host's name. `engine` is the number of the engine in a parallel run, None elsewhere.
    """

    id: Name
    notebook: str | None
    host_digest: Annotated[str, Unread()]
    engine: Annotated[str | None, Unread()] = None


class Cell(Struct, frozen=True):
    """The cell (or traced block) that was measured.

    Together with the run's id, `sequence` identifies a record. `id` and `execution_count` are None if the
    front end sends none. `source_digest` is the start of the SHA-256 of the code, so that runs of the same
    code can be recognised without storing it. `name` is the most telling line of the code, redacted.
    """

    sequence: Count
    id: str | None
    execution_count: Count | None
    source_digest: Annotated[str | None, Called("digest")]
    name: Annotated[str, Otherwise("")]


class Repeat(Struct, frozen=True):
    """The number of a run among those of a cell that repeats.

    Number 0 is the warm-up, 1 to `of` are timed, and the one after them is profiled. `walls` are the wall
    times in seconds of the earlier runs, only in the last of its records. None: not measured.
    """

    number: Count
    of: Count
    walls: Annotated[tuple[Measured | None, ...], Most(READ_RUNS)] = ()


class LogLine(Struct, frozen=True):
    """One native log message of the cell. `id` is None if the message is not in the catalogue.

    `count` is the number of times it occurred. `late`: it arrived after the cell had ended.
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
        """Return the message as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        return data


class OpStat(Struct, frozen=True):
    """The time of one operation in a profiled cell, in seconds. It is longer than in a light run.

    `plane` is host (threads) or device (streams), or None in records of versions that did not have it.
    `share` is the self time's part of all busy time of that plane and device, from 0 to 1. `bytes` (copied)
    and `flops` are sums over the calls. These and the input `shapes` are None if the profiler does not
    provide them.
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
    """A named fact about the cell, with its source."""

    value: Any
    source: Sentence


class Record(Struct, frozen=True):
    """Everything known about one cell.

    `started_monotonic_ns` is the time of `started_at` on the kernel's own monotonic clock. Only differences
    within a run are meaningful. `limit` is what the cell spent most of its time on. If it is None,
    `why_no_limit` gives the reason, except in records of versions that did not have it. `lines` are the code
    lines with the most samples, the most frequent first. `native` marks the native lines of its output, None
    if unknown. `gpu_work` is the work of each GPU that was recorded. `repeat` is None unless the cell
    repeats. `notes` are sentences for the reader. `not_measured` exists only in a notebook's file, in the
    place of the readings without a value.
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
    lines: tuple[HotLine, ...] = ()
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
        """The common identity of all runs of one cell: run id, cell id and the digest of its code."""
        return (self.run.id, self.cell.id, self.cell.source_digest)

    def find(self, quantity: str) -> Reading | None:
        """Return the first reading of a quantity that has a value, or None."""
        return next(
            (one for one in self.readings if one.quantity == quantity and one.value is not None), None
        )

    def reading(self, quantity: str) -> Reading:
        """Return the first reading of a quantity.

        Raises RecordError for a quantity that the record does not hold.
        """
        for reading in self.readings:
            if reading.quantity == quantity:
                return reading
        known = ", ".join(reading.quantity for reading in self.readings)
        raise RecordError(f"This record holds no reading {quantity!r}; it holds: {known}.")

    def to_json(self, texts: bool = True) -> dict[str, Any]:
        """Return the record as JSON-ready data, keys in the order of the schema.

        `texts` as in decoding.to_json.
        """
        data: dict[str, Any] = decoding.to_json(self, texts)
        for name in _LEFT_OUT:
            if not data[name]:
                del data[name]
        return {"schema": data.pop("schema"), **data}

    def to_notebook(self) -> dict[str, Any]:
        """Return the record as compact JSON-ready data for a notebook file.

        Texts of sentences are left out, because a view makes them. Each reason is written once, and empty
        fields are not written.
        """
        readings, saved = group_by_reason(self.readings)
        data = replace(self, readings=readings).to_json(texts=False) | saved
        device = data["device"]
        for table in (data, data["run"], device, *(device["ran_on"] or ())):
            for name in _LEFT_OUT_OF_NOTEBOOKS & table.keys():
                if not table[name]:
                    del table[name]
        return data

    @classmethod
    def from_json(cls, data: object) -> Record:
        """Return the record in JSON data from any source. Unknown keys are ignored.

        Raises NewerSchemaError for a record of a later version, RecordError for anything else that is not a
        record.
        """
        decoding.check_schema(data, SCHEMA, "the record")
        record = decoding.decode(cls, data, "the record")
        record = replace(record, readings=ungroup(record.readings, data))
        _check(record)
        return replace(record, schema=SCHEMA)

    def with_note(self, note: Sentence) -> Record:
        """Return the record with one more sentence for the reader."""
        return replace(self, notes=(*self.notes, note))

    def with_logs(
        self,
        lines: Iterable[LogLine],
        facts: Mapping[str, Fact] | None = None,
        notes: Iterable[Sentence] = (),
    ) -> Record:
        """Return the record with more log messages, facts from them, and notes about lost messages."""
        return replace(
            self,
            logs=(*self.logs, *lines),
            facts={**(facts or {}), **self.facts},
            notes=(*self.notes, *(note for note in notes if note not in self.notes)),
        )

    def with_all_logs(
        self, lines: Iterable[LogLine], facts: Mapping[str, Fact], notes: Iterable[Sentence]
    ) -> Record:
        """Return the record with all messages of its cell, which replace the part of them that it had."""
        return replace(
            self,
            logs=(*lines, *(line for line in self.logs if line.late)),
            notes=tuple(note for note in self.notes if note != STILL_READING),
        ).with_logs((), facts, notes)

    def with_gpu(self, figures: GpuFigures) -> Record:
        """Return the record with its GPUs' figures, which replace earlier ones."""
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
        """Seconds until the code and all its launched GPU work had ended, or None if unknown."""
        wall = self.reading("wall_time").value
        if not self.asynchronous or wall is None:
            return wall
        known = all(one.value is not None for one in self.readings if one.quantity == "device_time")
        return wall + max((one.went_on for one in self.gpu_work), default=0.0) if known else None

    @property
    def unfinished(self) -> bool:
        """True if native lines are still being read or GPU times are still to come."""
        return STILL_READING in self.notes or any(
            one.why_missing == STILL_AT_WORK for one in self.readings if one.quantity == "device_time"
        )

    def with_origin(self, origin: Origin) -> Record:
        """Return the record with another origin."""
        return replace(self, origin=origin)


def _check(record: Record) -> None:
    """Raise RecordError for contradictions that the type of a single field does not exclude."""
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
