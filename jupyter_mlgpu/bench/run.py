"""A whole benchmark: results with machine and versions, to a file and back, as table and charts."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from jupyter_mlgpu import decoding, files, plain
from jupyter_mlgpu.bench import figure, page, reading
from jupyter_mlgpu.bench.result import Result
from jupyter_mlgpu.errors import BenchError, NewerSchemaError, RecordError

#: Raised whenever a field changes its meaning or goes away; `bench.schema.json` describes it.
SCHEMA = 1

Origin = Literal["live", "loaded", "replayed"]


@dataclass(frozen=True)
class BenchRun:
    """Results in the order in which they were measured. `machine` names the hardware, never its host or user.

    `outcome` is ok or interrupted; `origin` says whether it was measured here now, read from a file, or
    replayed from another machine's. `notes` are sentences about the whole.
    """

    results: tuple[Result, ...]
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    started_at: str
    clock: str
    quick: bool
    outcome: Literal["ok", "interrupted"] = "ok"
    origin: Origin = "live"
    notes: tuple[str, ...] = field(default=())

    def to_json(self) -> dict[str, Any]:
        """The run as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        data["results"] = [one.to_json() for one in self.results]
        return {"schema": SCHEMA, "kind": KIND, **data}

    @classmethod
    def from_json(cls, data: object) -> BenchRun:
        """A run from `to_json`'s data, marked as loaded; raises RecordError saying what is wrong with it."""
        where = "the benchmark"
        table = plain.table_of(data, where)
        if table.get("kind") != KIND:
            raise RecordError(f"it is no result of a benchmark (its kind is {table.get('kind')!r:.40})")
        schema = plain.field_of(table, "schema", int, where)
        if schema > SCHEMA:
            raise NewerSchemaError(
                f"it has schema {schema}, this jupyter_mlgpu reads up to {SCHEMA}; install a newer one"
            )
        origin = plain.choice_of(table, "origin", get_args(Origin))
        return cls(
            tuple(
                Result.from_json(one, f"result {number}")
                for number, one in enumerate(plain.field_of(table, "results", list, where), 1)
            ),
            plain.table_of(table.get("machine"), "the machine"),
            plain.table_of(table.get("versions"), "the versions"),
            plain.field_of(table, "started_at", str, where),
            plain.field_of(table, "clock", str, where),
            bool(table.get("quick")),
            plain.choice_of(table, "outcome", ("ok", "interrupted")),
            "replayed" if origin == "replayed" else "loaded",
            tuple(map(str, plain.field_of(table, "notes", list, where))),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run as JSON, in one step; raises RecordError, naming the path, where that fails."""
        target = Path(path).expanduser()
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        files.write_atomically(target, (text + "\n").encode())
        return target

    def figure(self) -> Any:
        """TFLOP/s against size, as a plotly figure."""
        from plotly import graph_objects as go

        return go.Figure(figure.sizes(self))

    def roofline(self) -> Any:
        """TFLOP/s against operations a byte, under the measured roofs, as a plotly figure."""
        from plotly import graph_objects as go

        return go.Figure(figure.roofline(self))

    def __repr__(self) -> str:
        return page.text(self)

    def _repr_html_(self) -> str:
        return page.html(self)


#: What such a file calls itself.
KIND = "jupyter_mlgpu bench"


def load(path: str | os.PathLike[str]) -> BenchRun:
    """A run that `save` wrote; raises BenchError in one sentence where there is none."""
    data = reading.read(Path(path))
    try:
        return BenchRun.from_json(data)
    except RecordError as error:
        raise BenchError(f"{path} cannot be used: {error}.") from None
