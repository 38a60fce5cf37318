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

#: Increased whenever a field changes its meaning or is removed; `bench.schema.json` describes it.
SCHEMA = 1
#: The kind in the file of a benchmark.
KIND = "jupyter_mlgpu bench"
#: The largest file that is read: a file of all cases on eight devices has some 500 kB.
MOST_BYTES = 4_000_000
# Characters that move a cursor or colour a terminal; line ends and tabs may be in a framework's message.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

Origin = Literal["live", "loaded", "replayed"]


@dataclass(frozen=True, repr=False)
class BenchRun(Charted):
    """Results in the order in which they were measured.

    `machine` describes the hardware, without the names of host or user. `outcome` is ok or interrupted.
    `origin` says if it was measured here now (live), read from a file (loaded), or replayed from another
    machine's. `notes` are sentences about the whole.
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
        """Return the run as JSON-ready data."""
        data: dict[str, Any] = decoding.to_json(self)
        data["results"] = [one.to_json() for one in self.results]
        return {"schema": SCHEMA, "kind": KIND, **data}

    @classmethod
    def from_json(cls, data: object) -> BenchRun:
        """Return a run from `to_json`'s data, marked as loaded.

        Raises RecordError saying what is wrong with the data.
        """
        kind = data.get("kind") if isinstance(data, dict) else KIND
        if kind != KIND:
            raise RecordError(f"it is not a benchmark result (its kind is {kind!r:.40})")
        decoding.check_schema(data, SCHEMA, "the benchmark")
        run = decoding.decode(cls, data, "the benchmark")
        return replace(run, origin="replayed" if run.origin == "replayed" else "loaded")

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the run as JSON, in one step. Raises RecordError, naming the path, if that fails."""
        target = Path(path).expanduser()
        text = json.dumps(self.to_json(), indent=1, ensure_ascii=False, allow_nan=False)
        files.write_atomically(target, (text + "\n").encode())
        return target

    def roofline(self) -> Any:
        """Return TFLOP/s against operations per byte, under the measured roofs, as a plotly figure."""
        return self._figure(-1)  # it is the last chart of a run's page


def load(path: str | os.PathLike[str]) -> BenchRun:
    """Return a run that `save` wrote. Raises BenchError in one sentence if there is none."""
    try:
        data = incoming.read_json(Path(path).expanduser(), most=MOST_BYTES, what="a file of `bench --out`")
        decoding.refuse_unsavable(data, "it")  # before the data is walked through
        return BenchRun.from_json(_printable(data))
    except UsageError as error:
        raise BenchError(str(error)) from None
    except RecordError as error:
        raise BenchError(f"{visible_line(os.fspath(path))} cannot be used: {error}.") from None


def _printable(data: Any) -> Any:
    """Return the data with its control characters replaced, because messages are printed as they are."""
    if isinstance(data, str):
        return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", data)
    if isinstance(data, list):
        return [_printable(one) for one in data]
    if isinstance(data, dict):
        return {_printable(name): _printable(one) for name, one in data.items()}
    return data
