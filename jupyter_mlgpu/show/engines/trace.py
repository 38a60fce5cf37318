"""Writes a collection as a trace for Perfetto, with one process per engine."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jupyter_mlgpu._version import __version__
from jupyter_mlgpu.explain.engines.collection import Collection, state
from jupyter_mlgpu.explain.engines.phases import Phases
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.show.exporting import chrome, timeline


def save(collection: Collection, path: str | os.PathLike[str]) -> int:
    """Write the trace as described in `Collection.save`. Return the number of its events."""
    file = Path(path).expanduser()
    if not file.name.endswith((".json", ".json.gz")):
        raise UsageError(f"A trace is written to a file that ends in .json or .json.gz, found {file.name!r}.")
    engines = [
        {
            "engine": one.engine,
            "machine": one.host,
            "records": len(one.records),
            "clock_offset_ns": None if one.offset is None else one.offset.ns,
            "clock_uncertainty_ns": None if one.offset is None else one.offset.uncertainty_ns,
            "state": state(one),
            **_of_engine(collection.phases, one.engine),
        }
        for one in collection.engines
    ]
    about = {
        "clock": collection.clock,
        "written_by": f"jupyter_mlgpu {__version__}",
        "engines": engines,
        "left_out": list(collection.sentences),
    }
    by_engine = sorted(collection.timeline, key=lambda one: one.engine)
    clocks = {
        record.run.id: -one.offset.ns for one in collection.engines if one.offset for record in one.records
    }
    found = timeline.items([one.record for one in by_engine], lambda key: (), clocks=clocks)
    return chrome.write(file, found, about)


def _of_engine(found: Iterable[Phases], engine: int) -> dict[str, Any]:
    """Return the sums of an engine's phases for the file, or an empty dict if it has none."""
    named = (dataclasses.asdict(one) for one in found if one.engine == engine)
    return next(({"phases": {k: v for k, v in one.items() if k != "engine"}} for one in named), {})
