"""A whole benchmark: results with machine and versions, to a file and back."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.record import decoding, files, incoming
from jupyter_mlgpu.record.displayable import Charted
from jupyter_mlgpu.record.errors import BenchError, RecordError, UsageError
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.visible import visible_line

#: Raised whenever a field changes its meaning or goes away; `bench.schema.json` describes it.
SCHEMA = 1
#: What such a file calls itself.
KIND = "jupyter_mlgpu bench"
#: A file of all cases on eight devices is some 500 kB.
MOST_BYTES = 4_000_000
# What would move a cursor or colour a terminal; ends of lines and tabs may be in what a framework said.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Origin = Literal["live", "loaded", "replayed"]


@dataclass(frozen=True, repr=False)
class BenchRun(Charted):
    """Results in the order in which they were measured. `machine` names the hardware, never its host or user.

    `outcome` is ok or interrupted; `origin` says whether it was measured here now, read from a file, or
    replayed from another machine's. `notes` are sentences about the whole.
    """

    results: tuple[CaseResult, ...]
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    started_at: str
    clock: str
    quick: bool
    outcome: Literal["ok", "interrupted"] = "ok"
    origin: Origin = "live"
    notes: tuple[Sentence, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The run as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        data["results"] = [one.to_json() for one in self.results]
        return {"schema": SCHEMA, "kind": KIND, **data}

    @classmethod
    def from_json(cls, data: object) -> BenchRun:
        """A run from `to_json`'s data, marked as loaded; raises RecordError saying what is wrong with it."""
        kind = data.get("kind") if isinstance(data, dict) else KIND
        if kind != KIND:
            raise RecordError(f"it is not a benchmark result (its kind is {kind!r:.40})")
        decoding.check_schema(data, SCHEMA, "the benchmark")
        run = decoding.decode(cls, data, "the benchmark")
        return replace(run, origin="replayed" if run.origin == "replayed" else "loaded")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run as JSON, in one step; raises RecordError, naming the path, where that fails."""
        target = Path(path).expanduser()
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        files.write_atomically(target, (text + "\n").encode())
        return target

    def roofline(self) -> Any:
        """TFLOP/s against operations a byte, under the measured roofs, as a plotly figure."""
        return self._figure(1)


def load(path: str | os.PathLike[str]) -> BenchRun:
    """A run that `save` wrote; raises BenchError in one sentence where there is none."""
    try:
        data = incoming.read_json(Path(path).expanduser(), most=MOST_BYTES, what="a file of `bench --out`")
        decoding.refuse_unsavable(data, "it")  # before it is walked through
        return BenchRun.from_json(_printable(data))
    except UsageError as error:
        raise BenchError(str(error)) from None
    except RecordError as error:
        raise BenchError(f"{visible_line(os.fspath(path))} cannot be used: {error}.") from None


def _printable(data: Any) -> Any:
    """The data with its control characters replaced: what a framework said is printed as it stands."""
    if isinstance(data, str):
        return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", data)
    if isinstance(data, list):
        return [_printable(one) for one in data]
    if isinstance(data, dict):
        return {_printable(name): _printable(one) for name, one in data.items()}
    return data
