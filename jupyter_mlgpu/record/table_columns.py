"""The columns of a table of records, apart from the library that holds the table.

A column's name ends in its unit: `wall_time_s`, `peak_memory_process_bytes`, `energy_J`. An unknown value is
None, never 0, and the column `wall_time_why_missing` gives the reason. A quantity that several instruments
read has a column for each: `device_time_s [profiler, gpu:0]`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from jupyter_mlgpu.record.instruments import Instrument, Instruments
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record

#: What a column's values are: `sequence` and `count` are whole numbers, and a `sequence` is always known. A
#: `number` is a float, a `time` a datetime in UTC.
Kind = Literal["text", "sequence", "count", "number", "truth", "time"]

#: Quantities that a profiler lengthens. In a profiled record they are not timings, so the table omits them.
_TIMINGS = ("wall_time", "cpu_time")
_PROFILED = "Measured with a profiler on, so it is no timing."


@dataclasses.dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a table, with one value per record."""

    name: str
    kind: Kind
    values: tuple[Any, ...]


def columns_of(records: Sequence[Record]) -> list[TableColumn]:
    """Return the columns of a table with one row per record."""
    columns = [
        _column(name, kind, [value(record) for record in records]) for name, (kind, value) in _ABOUT.items()
    ]
    for one in _quantity_columns(records):
        found = [one.figure(record) for record in records]
        figure, why = one.names
        columns.append(_column(figure, "number", [value for value, _ in found]))
        columns.append(_column(why, "text", [reason for _, reason in found]))
    return [*columns, _column("notes", "text", [" ".join(record.notes) or None for record in records])]


def _column(name: str, kind: Kind, values: list[Any]) -> TableColumn:
    if kind == "text":  # a lone surrogate has no UTF-8 and becomes a question mark, as in a records file
        values = [None if one is None else one.encode("utf-8", "replace").decode() for one in values]
    elif kind == "number":
        values = [None if one is None else float(one) for one in values]
    return TableColumn(name, kind, tuple(values))


def _started_at(record: Record) -> datetime | None:
    try:
        found = datetime.fromisoformat(record.started_at)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _ran_on(record: Record) -> str | None:
    ran_on = record.device.ran_on
    return None if ran_on is None else ", ".join(one.device for one in ran_on)


#: The columns before those of the quantities. `run` and `cell` together identify a record.
_ABOUT: Mapping[str, tuple[Kind, Callable[[Record], Any]]] = {
    "run": ("text", lambda record: record.run.id),
    "cell": ("sequence", lambda record: record.cell.sequence),
    "execution_count": ("count", lambda record: record.cell.execution_count),
    "name": ("text", lambda record: record.cell.name),
    "source_digest": ("text", lambda record: record.cell.source_digest),
    "notebook": ("text", lambda record: record.run.notebook),
    "started_at": ("time", _started_at),
    "outcome": ("text", lambda record: record.outcome),
    "mode": ("text", lambda record: record.mode),
    "asynchronous": ("truth", lambda record: record.asynchronous),
    "origin": ("text", lambda record: record.origin),
    "device_asked_for": ("text", lambda record: record.device.asked_for or None),
    "ran_on": ("text", _ran_on),
    "ran_on_why_missing": ("text", lambda record: record.device.why_missing),
}


@dataclasses.dataclass(frozen=True, slots=True)
class _QuantityColumns:
    """The columns of a quantity, or of one instrument's readings of it if several instruments read it."""

    quantity: str
    instruments: Instruments
    instrument: Instrument | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the value's column and of the reason's column."""
        of = "" if self.instrument is None else f" [{self.instrument}]"
        return f"{self.quantity}_{QUANTITIES[self.quantity].unit}{of}", f"{self.quantity}_why_missing{of}"

    def _reading(self, record: Record) -> Reading | None:
        readings = [one for one in record.readings if one.quantity == self.quantity]
        if self.instrument is None:
            return next(iter(readings), None)
        own = self.instruments.readings(record).get(self.instrument)
        return own or next((one for one in readings if one.value is None), None)

    def figure(self, record: Record) -> tuple[float | None, str | None]:
        """Return the record's value and, if there is none, the reason."""
        reading = self._reading(record)
        if reading is None:
            return None, "This record does not hold it."
        if reading.value is not None and record.mode == "profiled" and self.quantity in _TIMINGS:
            return None, _PROFILED
        return reading.value, reading.why_missing


def _quantity_columns(records: Sequence[Record]) -> list[_QuantityColumns]:
    columns = []
    for quantity in QUANTITIES:
        instruments = Instruments(records, quantity)
        if all(sum(one.quantity == quantity for one in record.readings) <= 1 for record in records):
            columns.append(_QuantityColumns(quantity, instruments))
            continue
        every = dict.fromkeys(one for record in records for one in instruments.readings(record))
        columns += [_QuantityColumns(quantity, instruments, one) for one in every]
    return columns
