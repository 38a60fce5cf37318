"""Records as pandas or Arrow tables, with one row per record or one row per operation.

`record/table_columns.py` says which columns a table of records has, so both kinds have the same ones. Values
that were not measured are missing (NaN in pandas, null in Arrow), never 0, and the column
`wall_time_why_missing` beside them gives the reason.

pandas and nanoarrow are imported when a table is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, SupportsIndex, overload

from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.record import OpStat, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.table_columns import Kind, TableColumn, columns_of


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
        series = {one.name: _series(pandas, one) for one in columns_of(self._records)}
        return pandas.DataFrame(series).set_index(["run", "cell"])

    def to_arrow(self) -> Any:
        """Return an Arrow table, a nanoarrow Array of structs, with one row per record.

        It has the columns of `to_frame`, with `run` and `cell` first. Polars, DuckDB, pyarrow and pandas 3
        take it as it is, by Arrow's PyCapsule interface: `polars.DataFrame(records().to_arrow())`. Raises
        MissingPackageError without nanoarrow.
        """
        require(say("A table"), "arrow", "nanoarrow")
        import nanoarrow

        types = {
            "text": nanoarrow.string(),
            "sequence": nanoarrow.int64(),
            "count": nanoarrow.int64(),
            "number": nanoarrow.float64(),
            "truth": nanoarrow.bool_(),
            "time": nanoarrow.timestamp("us", "UTC"),
        }
        columns = columns_of(self._records)
        fields = {one.name: types[one.kind] for one in columns}
        arrays = [nanoarrow.c_array(_for_arrow(one), types[one.kind]) for one in columns]
        rows = nanoarrow.struct(fields, nullable=False)
        return nanoarrow.Array(nanoarrow.c_array_from_buffers(rows, len(self), [None], children=arrays))

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


_OPERATION_UNITS = {
    "self_time": "self_time_s",
    "total_time": "total_time_s",
    "bytes": "copied_bytes",
    "flops": "flop",
}

#: pandas's types. A text's is left to pandas, whose versions 2 and 3 have different ones.
_PANDAS: Mapping[Kind, str] = {
    "sequence": "int64",
    "count": "Int64",
    "number": "float64",
    "truth": "bool",
}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _series(pandas: Any, column: TableColumn) -> Any:
    if column.kind == "time":
        # A year that pandas's nanoseconds do not reach is missing.
        return pandas.Series(pandas.to_datetime(list(column.values), utc=True, errors="coerce"))
    return pandas.Series(list(column.values), dtype=_PANDAS.get(column.kind))


def _for_arrow(column: TableColumn) -> list[Any]:
    """Return a column's values in the form that nanoarrow takes: a time as microseconds since 1970."""
    if column.kind != "time":
        return list(column.values)
    return [None if one is None else (one - _EPOCH) // timedelta(microseconds=1) for one in column.values]


def _pandas() -> Any:
    require(say("A table"), "dataframe", "pandas")
    return importlib.import_module("pandas")
