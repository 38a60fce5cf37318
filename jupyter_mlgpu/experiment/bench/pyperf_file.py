"""Writes a benchmark's samples in pyperf's JSON format, for `python -m pyperf compare_to` and others.

The format is that of pyperf 1.0 and newer: a list of benchmarks, each with a name, metadata and runs, whose
values are seconds per loop. pyperf itself is not needed to write it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jupyter_mlgpu.experiment.bench.result import CaseResult
from jupyter_mlgpu.experiment.bench.run import BenchRun
from jupyter_mlgpu.record import files
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.record.visible import visible_line

#: The version of the file format, which pyperf checks.
_FORMAT = "1.0"

_LEFT_OUT = say("Left out: energy, memory, sensor readings, profiles and warm-ups.")


def save(run: BenchRun, path: Path) -> Sentence:
    """Write the samples of a run to a file in one step, and return a sentence on what it holds and lacks.

    A case without samples is left out. If none has any, nothing is written. Raises RecordError, naming the
    path.
    """
    timed = [one for one in run.results if one.samples]
    if not timed:
        return say("No case has samples, so nothing was written for pyperf.")
    target = path.expanduser()
    text = json.dumps(to_pyperf(run, timed), indent=1, ensure_ascii=False, allow_nan=False)
    files.write_atomically(target, (text + "\n").encode())
    holds = say_count(
        "{path} has seconds per step of {count} case for pyperf.",
        "{path} has seconds per step of {count} cases for pyperf.",
        len(timed),
        path=visible_line(target),
    )
    without = len(run.results) - len(timed)
    lacks = (
        say_count("{count} case has no samples.", "{count} cases have no samples.", without)
        if without
        else ""
    )
    return joined(*filter(None, (holds, _LEFT_OUT, lacks)))


def to_pyperf(run: BenchRun, timed: list[CaseResult]) -> dict[str, Any]:
    """Return pyperf's data for these results of a run, each with samples."""
    return {
        "version": _FORMAT,
        "metadata": _texts({"timer": run.clock, "python_version": run.versions.get("python")}),
        "benchmarks": [_benchmark(run, one) for one in timed],
    }


def _benchmark(run: BenchRun, result: CaseResult) -> dict[str, Any]:
    about = {
        "name": f"{result.label}, {result.framework} on {result.device}",
        "framework_version": run.versions.get(result.framework),
        "hardware": result.hardware,
        "status": None if result.status == "ok" else result.status,
        "doubts": " ".join(result.flags),
    }
    metadata = {"unit": "second", "loops": result.steps, **_texts(about)}
    # What pyperf calls a run is one process, and all samples come from one.
    process = {
        "values": list(result.samples),
        "metadata": _texts({"date": run.started_at.replace("Z", "+00:00")}),
    }
    return {"metadata": metadata, "runs": [process]}


def _texts(metadata: dict[str, str | None]) -> dict[str, str]:
    """Return metadata as pyperf takes it: no line ends, and nothing empty."""
    plain = {name: " ".join((text or "").split()) for name, text in metadata.items()}
    return {name: text for name, text in plain.items() if text}
