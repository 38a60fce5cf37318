"""Prints the table of docs/measurements/mps.md: the forecast of each model beside a real run.

    python -m tests.support.mps_models.table [MODEL ...]

Each model is planned in a process of its own, and runs once on the emulated MPS device (tests/mps_emulator),
or on the CPU.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from tests.mps_emulator import building
from tests.support import mps_models
from tests.support.mps_models.differences import unexplained

#: Models that the emulated device cannot run, and why: their real run is one on the CPU.
ON_CPU = {
    "packed_lstm": "it refuses the CPU's tensor with the sizes of the batch",
    "packed_gru": "it refuses the CPU's tensor with the sizes of the batch",
    "int8": "it has no quantized tensors",
    "wav2vec2": "it refuses a gradient of what a mask changed in place",
}


def planned(name: str) -> dict[str, Any]:
    """Return what `one_plan` prints of a model. Raises CalledProcessError."""
    made = _output("-m", "tests.support.mps_models.one_plan", name)
    return dict(json.loads(list(made)[-1]))


def real_counts(names: list[str]) -> dict[str, Any]:
    """Return the operations of steps in a real run by name, or the text of an error."""
    script = "-m", "tests.support.mps_models.real_runs"
    on_mps = [one for one in names if one not in ON_CPU]
    on_cpu = [one for one in names if one in ON_CPU]
    lines = [
        *_output(*script, "mps", *on_mps, **building.environment(building.library())),
        *_output(*script, "cpu", *on_cpu),
    ]
    return {name: found for line in lines for name, found in json.loads(line).items()}


def _output(*arguments: str, **variables: str) -> Iterator[str]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return (line for line in done.stdout.splitlines() if line.startswith("{"))


def row(name: str, plan: dict[str, Any], real: Any) -> str:
    """Return a model's line of the table."""
    step = plan["plans"]["step"]
    forward = plan["plans"].get("forward")
    attention = [f"`{one}` {judgement}" for one, judgement in step["attention"].items()]
    newest = sorted(set(step["newest"]) & set(step["attention"]))
    cells = (
        name,
        str(len(step["counts"])),
        f"{sum(step['counts'].values()):,}",
        ", ".join(attention) or "none",
        ", ".join(f"`{one}`" for one in newest) or "none",
        f"{step['seconds']:.1f} s",
        f"{forward['seconds']:.1f} s" if forward else "",
        f"{plan['megabytes']:.0f} MB",
        _compared(name, step, real),
    )
    return f"| {' | '.join(cells)} |"


def _compared(name: str, step: dict[str, Any], real: Any) -> str:
    if not isinstance(real, dict):
        return f"not run: {real}"
    both = set(step["counts"]) & set(real)
    different = sorted(unexplained(step["counts"], real))
    where = " (on the CPU)" if name in ON_CPU else ""
    return f"{len(both)} the same{where}" + (f", **{', '.join(different)}**" if different else "")


def main(names: list[str]) -> None:
    """Print the table."""
    real = real_counts(names)
    print(
        "| training step | kinds | operations | needs attention in 2.13 | no kernel in 2.15 either "
        "| time | forward pass | memory | beside a real run |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |", flush=True)
    for name in names:
        print(row(name, planned(name), real[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(mps_models.NAMES))
