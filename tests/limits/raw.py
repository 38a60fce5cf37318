"""Keep the raw evidence of planted programs, to find out why an answer is wrong.

python -m tests.limits.raw --framework torch-cuda --json FILE      # in this process, as a script
python -m tests.limits.raw --framework jax-cuda --only '*-to-the-gpu-*' --ops --json FILE
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from jupyter_mlgpu import pipeline
from jupyter_mlgpu.measure.runtime import current
from jupyter_mlgpu.record.decoding import to_json
from tests.limits import commandline
from tests.limits.cells import Cells
from tests.limits.load import beside
from tests.limits.program import PROGRAMS, Load, Program, matching


def cost_of_asking() -> dict[str, dict[str, float]]:
    """Return the cost of the driver's calls at a cell, on the first GPU: medians of 50, in microseconds."""
    nvml, since = current().gpus.get().nvml, time.time() - 1
    asked: dict[str, Callable[[], Any]] = {
        "busy": lambda: nvml.busy(0, since),
        "shared": lambda: nvml.shared(0, since, 0),
    }
    told = {}
    for name, ask in asked.items():
        walls, worked = [], []
        for _ in range(50):
            begun, before = time.perf_counter(), time.thread_time()
            ask()
            walls.append((time.perf_counter() - begun) * 1e6)
            worked.append((time.thread_time() - before) * 1e6)
        told[name] = {"wall": statistics.median(walls), "processor": statistics.median(worked)}
    return told


def looked_at(cells: Cells, code: str, load: Load | None, ops: bool = False) -> dict[str, Any]:
    """Run a cell, and return its record and the evidence on it."""
    runtime = current()
    ready = cells.compiled(code)
    with beside(load):
        measurement = runtime.recorder.start("planted", ops=ops, of_user=cells.of_user)
        cells.run(ready)
        record = measurement.stop()
    record = pipeline.explained(record, measurement.activity, runtime)
    told: dict[str, Any] = to_json(record)
    # Operations in the order of the time they took; those that took hardly any say nothing here.
    return {**told, "ops": told.get("ops", [])[:12], "activity": to_json(measurement.activity)}


def seen_of(cells: Cells, program: Program, ops: bool) -> dict[str, Any]:
    """Return the evidence on a program and the mended one, or the reason where a cell raises."""
    asked = [("planted", program.before, program.code, program.load)]
    if program.mended is not None:
        asked.append(("mended", program.mended_before, program.mended, None))
    told: dict[str, Any] = {}
    try:
        for name, before, code, load in asked:
            for setup in before:
                cells.run(setup)
            told[name] = looked_at(cells, code, load)
            limit = told[name].get("limit") or {}
            print(
                program.id, name, limit.get("kind"), limit.get("confidence"), limit.get("share"), flush=True
            )
            if ops and load is None:
                told[f"{name}, with operations"] = looked_at(cells, code, None, ops=True)
    except Exception as error:
        told["failed"] = f"{type(error).__name__}: {error}"
        print(program.id, told["failed"], flush=True)
    return told


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the programs and write what was seen."""
    parser = commandline.parser(__doc__, "tests.limits.raw")
    parser.add_argument("--ops", action="store_true", help="run each cell once more, with its operations")
    options = parser.parse_args(arguments)
    cells = Cells()
    told: dict[str, Any] = {"driver_us": cost_of_asking(), "programs": {}}
    for program in matching(PROGRAMS, options.only, options.framework):
        if reason := program.why_not_here():
            print(program.id, reason, flush=True)
            continue
        told["programs"][program.id] = seen_of(cells, program, options.ops)
        cells.clear()
        gc.collect()
        if torch := sys.modules.get("torch"):
            torch.cuda.empty_cache()
        commandline.keep(options.json, told)
    return 0


if __name__ == "__main__":
    sys.exit(main())
