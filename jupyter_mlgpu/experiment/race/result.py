"""The result of a race as plain data, to JSON and back."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from jupyter_mlgpu.experiment.race.crossover import Crossover, crossover
from jupyter_mlgpu.explain.statistics import interval_name, interval_or_range, median
from jupyter_mlgpu.record import decoding, files
from jupyter_mlgpu.record.decoding import Count, Measured
from jupyter_mlgpu.record.displayable import Charted
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.record import Outcome
from jupyter_mlgpu.record.sentence import Sentence

#: Increased whenever a field changes its meaning or is removed.
SCHEMA = 1

#: A size as it was written, 10 or 0.5; None if the race has no sizes.
Size = Annotated[int, Meta(ge=1, le=2**63 - 1)] | Annotated[float, Meta(gt=0, le=1e18)] | None


@dataclass(frozen=True, slots=True)
class Timing:
    """The runs of a cell on one device, at one size (None: the race has no sizes).

    `samples` are the seconds of each run in order, without warm-up. `steady` is true if the last warm-up runs
    took about the same time.
    """

    size: Size
    samples: Annotated[tuple[Measured, ...], Meta(min_length=1)]
    warmups: Count
    steady: bool

    @property
    def median(self) -> float:
        """The median of the samples, in seconds."""
        return median(self.samples)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval in seconds (see `interval_or_range`); None for a single run."""
        return interval_or_range(self.samples)

    @property
    def spread(self) -> str:
        """The name of `interval`."""
        return interval_name(len(self.samples))


@dataclass(frozen=True, slots=True)
class Lane:
    """One device's part of the race.

    `empty` is the time of an empty run, in seconds, because waiting for the device is part of every sample.
    It is None if the lane ended before it was known. `problem` says why the lane is not complete. `unused` is
    true if its first run had no operation of the framework, so that choosing a device changed nothing.
    `use_known` is true if this is known.
    """

    device: str
    kind: str
    hardware: str | None
    timings: tuple[Timing, ...]
    empty: Measured | None = None
    problem: Sentence | None = None
    notes: tuple[Sentence, ...] = ()
    unused: bool = False
    use_known: bool = True

    def at(self, size: Size) -> Timing | None:
        """Return the timing at a size if it was measured, else None."""
        return next((one for one in self.timings if one.size == size), None)


@dataclass(frozen=True, repr=False)
class RaceResult(Charted):
    """One cell on several devices. `variable` is the name of the size, None without sizes.

    `fresh` is true if each device had a process of its own.
    """

    cell: str
    framework: str
    variable: str | None
    repeats: Count
    fresh: bool
    lanes: tuple[Lane, ...]
    outcome: Outcome
    started_at: str
    clock: str
    versions: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[Sentence, ...] = ()

    @property
    def sizes(self) -> tuple[Size, ...]:
        """All sizes at which something was measured, in order."""
        found = dict.fromkeys(one.size for lane in self.lanes for one in lane.timings)
        return tuple(sorted(found, key=lambda size: size or 0))

    @property
    def unused(self) -> bool:
        """True if the framework ran no operation on any device."""
        return bool(self.lanes) and all(lane.unused for lane in self.lanes)

    @property
    def used(self) -> bool:
        """True if the framework is known to have run something on a device."""
        return any(lane.use_known and not lane.unused for lane in self.lanes)

    @property
    def crossovers(self) -> tuple[Crossover, ...]:
        """The crossovers between the first device and each other one; empty without sizes."""
        if self.variable is None:
            return ()
        return tuple(crossover(self.lanes[0], other) for other in self.lanes[1:])

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON-ready data, with medians, intervals and crossovers added."""
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
        """Return a result from `to_json`'s data. Raises RecordError saying what is wrong with it."""
        decoding.check_schema(data, SCHEMA, "the race")
        return decoding.decode(cls, data, "the race")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the result as JSON and its chart as SVG, each in one step, and return the chart's path.

        Raises RecordError, naming the path, if a file cannot be written.
        """
        target = Path(path).expanduser()
        if target.suffix != ".json":
            raise RecordError(
                "A race is saved as a JSON file, such as race.json, with its chart beside it as race.svg; "
                f"found {str(path)!r}."
            )
        chart = target.with_suffix(".svg")
        text = json.dumps(self.to_json(), ensure_ascii=False, allow_nan=False, indent=1)
        files.write_atomically(target, f"{text}\n".encode())
        files.write_atomically(chart, self.svg().encode())
        return chart
