"""What a race measured: plain data, to JSON and back, with its table and its chart."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_mlgpu import decoding, files, plain
from jupyter_mlgpu.errors import NewerSchemaError, RecordError
from jupyter_mlgpu.race import figure, page, svg
from jupyter_mlgpu.race.crossover import Crossover, crossover
from jupyter_mlgpu.record import Outcome
from jupyter_mlgpu.statistics import interval_name, interval_or_range, median

#: Raised whenever a field changes its meaning or goes away.
SCHEMA = 1

_OUTCOMES = ("ok", "error", "interrupted")


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of a cell on one device, at one size (None: the race has no sizes).

    `samples` are seconds in the order in which they were measured, one a run, warm-up left out. `steady`
    tells whether the last warm-up runs took about the same time.
    """

    size: float | None
    samples: tuple[float, ...]
    warmups: int
    steady: bool

    @property
    def median(self) -> float:
        """The middle of the samples, in seconds."""
        return median(self.samples)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The spread, from and to in seconds (see `interval_or_range`); None for a single run."""
        return interval_or_range(self.samples)

    @property
    def spread(self) -> str:
        """What `interval` is, in words."""
        return interval_name(len(self.samples))


@dataclass(frozen=True, slots=True)
class Lane:
    """One device's part of the race.

    `empty` is the time of a run of nothing, in seconds: waiting for the device is part of every sample. It
    is None where the lane ended before it was known. `problem` says why the lane is not complete.
    """

    device: str
    kind: str
    hardware: str | None
    timings: tuple[Timing, ...]
    empty: float | None = None
    problem: str | None = None
    notes: tuple[str, ...] = ()

    def at(self, size: float | None) -> Timing | None:
        """The timing at a size, where it was measured."""
        return next((one for one in self.timings if one.size == size), None)


@dataclass(frozen=True)
class RaceResult:
    """One cell on several devices; `variable` is the name that stood for the size, None without sizes.

    `fresh` tells whether each device had a process of its own.
    """

    cell: str
    framework: str
    variable: str | None
    repeats: int
    fresh: bool
    lanes: tuple[Lane, ...]
    outcome: Outcome
    started_at: str
    clock: str
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def sizes(self) -> tuple[float | None, ...]:
        """All sizes at which something was measured, in order."""
        found = dict.fromkeys(one.size for lane in self.lanes for one in lane.timings)
        return tuple(sorted(found, key=lambda size: size or 0))

    @property
    def crossovers(self) -> tuple[Crossover, ...]:
        """Where the first device and each of the others change places; empty without sizes."""
        if self.variable is None:
            return ()
        return tuple(crossover(self.lanes[0], other) for other in self.lanes[1:])

    def to_json(self) -> dict[str, Any]:
        """The result as JSON-ready data, with medians, intervals and crossovers for who reads the file."""
        data: dict[str, Any] = {"schema": SCHEMA, **decoding.to_json(self)}
        for lane, lane_data in zip(self.lanes, data["lanes"], strict=True):
            for one, timing in zip(lane.timings, lane_data["timings"], strict=True):
                between = one.interval
                timing |= {
                    "median": one.median,
                    "interval": None if between is None else list(between),
                    "spread": one.spread,
                }
        return data | {"crossovers": decoding.to_json(self.crossovers)}

    @classmethod
    def from_json(cls, data: object) -> RaceResult:
        """A result from `to_json`'s data; raises RecordError saying what is wrong with it."""
        table = plain.table_of(data, "the race")
        schema = plain.field_of(table, "schema", int, "the race")
        if schema > SCHEMA:
            raise NewerSchemaError(
                f"the race has schema {schema}, this jupyter_mlgpu reads up to {SCHEMA}; install a newer one"
            )
        return cls(
            **{name: plain.field_of(table, name, str, "the race") for name in _TEXTS},
            variable=plain.optional_of(table, "variable", str, "the race"),
            repeats=plain.field_of(table, "repeats", int, "the race"),
            fresh=bool(table.get("fresh")),
            lanes=tuple(map(lane_from_json, plain.field_of(table, "lanes", list, "the race"))),
            outcome=plain.choice_of(table, "outcome", _OUTCOMES),
            versions=plain.table_of(table.get("versions", {}), "the race's versions"),
            notes=tuple(map(str, table.get("notes", ()))),
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as JSON, and its chart beside it as SVG, each in one step; gives the chart's path.

        Raises RecordError, naming the path, where a file cannot be written.
        """
        target = Path(path).expanduser()
        if target.suffix != ".json":
            raise RecordError(
                f"A race is saved under the name of a JSON file, as in race.json, and found {str(path)!r}; "
                "its chart is saved beside it as race.svg."
            )
        chart = target.with_suffix(".svg")
        files.write_atomically(target, page.json_text(self).encode())
        files.write_atomically(chart, self.svg().encode())
        return chart

    def svg(self) -> str:
        """The chart as SVG."""
        return f"{svg.draw(self)}\n"

    def figure(self) -> Any:
        """The chart as a plotly figure."""
        from plotly import graph_objects as go

        return go.Figure(figure.data(self))

    def __repr__(self) -> str:
        return page.text(self)

    def _repr_html_(self) -> str:
        return page.html(self)


_TEXTS = ("cell", "framework", "started_at", "clock")


def lane_from_json(data: object) -> Lane:
    """A lane from JSON-ready data; raises RecordError."""
    table = plain.table_of(data, "a lane")
    return Lane(
        plain.field_of(table, "device", str, "a lane"),
        plain.field_of(table, "kind", str, "a lane"),
        plain.optional_of(table, "hardware", str, "a lane"),
        tuple(map(timing_from_json, plain.field_of(table, "timings", list, "a lane"))),
        _number(table.get("empty"), "a lane's empty"),
        plain.optional_of(table, "problem", str, "a lane"),
        tuple(map(str, table.get("notes", ()))),
    )


def timing_from_json(data: object) -> Timing:
    """A timing from JSON-ready data; raises RecordError."""
    table = plain.table_of(data, "a timing")
    samples = [_number(one, "a sample") for one in plain.field_of(table, "samples", list, "a timing")]
    if not samples or None in samples:
        raise RecordError("a timing should have samples, each a number of seconds")
    return Timing(
        _number(table.get("size"), "a timing's size"),
        tuple(one for one in samples if one is not None),
        plain.field_of(table, "warmups", int, "a timing"),
        bool(table.get("steady")),
    )


def _number(value: object, where: str) -> float | None:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return value
    raise RecordError(f"{where} should be a number, found {value!r:.60}")
