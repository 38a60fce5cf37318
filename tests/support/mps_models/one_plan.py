"""Plans one model for MPS in a process of its own, and prints the figures as JSON.

python -m tests.support.mps_models.one_plan gpt
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

import jupyter_mlgpu
from tests.support import mps_models


def planned(name: str) -> dict[str, Any]:
    """Return the forecast of a model's step with its time and the growth of the process's peak memory.

    Times are seconds of the processor. The step comes first, so its time has the import of what PyTorch needs
    for tracing. The forward pass of a module follows.
    """
    torch.manual_seed(0)
    subject, *given = mps_models.make(name)
    Path("/proc/self/clear_refs").write_text("5")  # begins the peak anew
    before = _megabytes("VmRSS")
    found = {"step": _plan(subject, given)}
    if isinstance(subject, torch.nn.Module):
        found["forward"] = _plan(_forward(subject, given), given[: max(1, len(given) - 1)])
    return {"plans": found, "megabytes": _megabytes("VmHWM") - before}


def _forward(model: torch.nn.Module, given: list[Any]) -> Any:
    """Return the model, or a function if more inputs than one would be taken as something to learn."""
    if len(given) < 3 and not isinstance(given[0], dict):
        return model

    def forward(*inputs: Any) -> Any:
        with torch.no_grad():
            return model(**inputs[0]) if isinstance(inputs[0], dict) else model(*inputs)

    return forward


def _plan(subject: Any, given: list[Any]) -> dict[str, Any]:
    began = time.process_time()  # other work on the machine does not count
    forecast = jupyter_mlgpu.plan(subject, *given, target="mps")
    seconds = time.process_time() - began
    counts: dict[str, int] = {}
    for one in forecast.operations:
        counts[one.operation] = counts.get(one.operation, 0) + one.count
    attention = [one for one in forecast.operations if one.judgement not in ("gpu", "composite")]
    return {
        "seconds": seconds,
        "version": forecast.version,
        "counts": counts,
        "judgements": sorted({one.judgement for one in forecast.operations}),
        "attention": {one.operation: one.judgement for one in attention},
        "sources": all(one.source for one in forecast.operations),
        "newest": list(forecast.others[-1].missing) if forecast.others else [],
        "untraced": list(forecast.untraced),
    }


def _megabytes(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(one for one in lines if one.startswith(field)).split()[1]) / 1024


if __name__ == "__main__":
    print(json.dumps(planned(sys.argv[1])))
