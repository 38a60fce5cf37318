"""Records as pandas tables, with one row per record or one row per operation.

A column's name ends in its unit: `wall_time_s`, `peak_memory_process_bytes`, `energy_J`. Values that were not
measured are missing (NaN), never 0, and the column `wall_time_why_missing` beside them gives the reason. A
quantity that several instruments read has a column for each: `device_time_s [profiler, gpu:0]`.

pandas is imported when a table is asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, overload

from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.instruments import Instrument, Instruments
from jupyter_mlgpu.record.quantities import QUANTITIES
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import OpStat, Record
from jupyter_mlgpu.record.sentence import say

#: Quantities that a profiler lengthens. In a profiled record they are not timings, so the table omits them.
_TIMINGS = ("wall_time", "cpu_time")
_PROFILED = "Measured with a profiler on, so it is no timing."


class Records(Sequence[Record]):
    """An immutable sequence of records, oldest first, that can be turned into tables."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._records = tuple(records)

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: SupportsIndex) -> Record: ...
    @overload
    def __getitem__(self, place: slice) -> Records: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Record | Records:
        if isinstance(place, slice):
            return Records(self._records[place])
        return self._records[place]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Records):
            return self._records == other._records
        return self._records == other

    def __hash__(self) -> int:
        return hash(self._records)

    def __repr__(self) -> str:
        count = len(self)
        return f"<{count:,} record{'' if count == 1 else 's'}; .to_frame() makes a table of them>"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with one row per record, indexed by run and cell.

        The times of profiled records are missing, because they are not timings. Raises MissingPackageError
        without pandas.
        """
        pandas = _pandas()
        columns = _columns(self._records)
        rows = [_row(record, columns) for record in self._records]
        names = ["run", "cell", *_ABOUT, *(name for column in columns for name in column.names), "notes"]
        frame = pandas.DataFrame(rows, columns=names)
        for column in columns:
            frame[column.names[0]] = frame[column.names[0]].astype("float64")
        frame["started_at"] = pandas.to_datetime(frame["started_at"], utc=True, errors="coerce")
        frame["execution_count"] = frame["execution_count"].astype("Int64")
        return frame.set_index(["run", "cell"])

    def operations(self) -> Any:
        """Return a pandas DataFrame with one row per operation of a profiled record, indexed by run and cell.

        Its times were measured with a profiler on. Raises MissingPackageError without pandas.
        """
        pandas = _pandas()
        names = list(OpStat.__struct_fields__)
        rows = [
            (record.run.id, record.cell.sequence, *(getattr(one, name) for name in names))
            for record in self._records
            for one in record.ops
        ]
        columns = ["run", "cell", *(_OPERATION_UNITS.get(name, name) for name in names)]
        frame = pandas.DataFrame(rows, columns=columns)
        for name in ("self_time_s", "total_time_s", "share", "copied_bytes", "flop"):
            frame[name] = frame[name].astype("float64")
        return frame.set_index(["run", "cell"])


_ABOUT = (
    "execution_count",
    "name",
    "source_digest",
    "notebook",
    "started_at",
    "outcome",
    "mode",
    "asynchronous",
    "origin",
    "device_asked_for",
    "ran_on",
    "ran_on_why_missing",
)

_OPERATION_UNITS = {
    "self_time": "self_time_s",
    "total_time": "total_time_s",
    "bytes": "copied_bytes",
    "flops": "flop",
}


@dataclasses.dataclass(frozen=True, slots=True)
class _Column:
    """The columns of a quantity, or of one instrument's readings of it if several instruments read it."""

    quantity: str
    instruments: Instruments
    instrument: Instrument | None = None

    @property
    def names(self) -> tuple[str, str]:
        """The names of the value's column and of the reason's column."""
        of = "" if self.instrument is None else f" [{self.instrument}]"
        return f"{self.quantity}_{QUANTITIES[self.quantity].unit}{of}", f"{self.quantity}_why_missing{of}"

    def reading(self, record: Record) -> Reading | None:
        """Return the record's reading for this column."""
        readings = [one for one in record.readings if one.quantity == self.quantity]
        if self.instrument is None:
            return next(iter(readings), None)
        own = self.instruments.readings(record).get(self.instrument)
        return own or next((one for one in readings if one.value is None), None)


def _columns(records: Sequence[Record]) -> list[_Column]:
    columns = []
    for quantity in QUANTITIES:
        instruments = Instruments(records, quantity)
        if all(sum(one.quantity == quantity for one in record.readings) <= 1 for record in records):
            columns.append(_Column(quantity, instruments))
            continue
        every = dict.fromkeys(one for record in records for one in instruments.readings(record))
        columns += [_Column(quantity, instruments, one) for one in every]
    return columns


def _row(record: Record, columns: Sequence[_Column]) -> tuple[Any, ...]:
    ran_on = record.device.ran_on
    figures: list[Any] = []
    for column in columns:
        reading = column.reading(record)
        if reading is None:
            figures += [None, "This record does not hold it."]
        elif reading.value is not None and record.mode == "profiled" and column.quantity in _TIMINGS:
            figures += [None, _PROFILED]
        else:
            figures += [reading.value, reading.why_missing]
    return (
        record.run.id,
        record.cell.sequence,
        record.cell.execution_count,
        record.cell.name,
        record.cell.source_digest,
        record.run.notebook,
        record.started_at,
        record.outcome,
        record.mode,
        record.asynchronous,
        record.origin,
        record.device.asked_for or None,
        None if ran_on is None else ", ".join(one.device for one in ran_on),
        record.device.why_missing,
        *figures,
        " ".join(record.notes) or None,
    )


def _pandas() -> Any:
    require(say("A table"), "dataframe", "pandas")
    return importlib.import_module("pandas")
