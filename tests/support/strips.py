"""Seven cells, two runs each, as an H100 ran them: their records, and what was seen of their code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from jupyter_mlgpu.explain.limits.judge import with_limit
from jupyter_mlgpu.measure.activity.activity import Activity
from jupyter_mlgpu.record.record import Record

CELLS: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "strips" / "h100.json").read_text(encoding="utf-8")
)


def judged(name: str) -> Record:
    """The record of one of them (`training, run 1`), with what limited it."""
    seen = CELLS[name]
    return with_limit(Record.from_json(seen["record"]), msgspec.convert(seen["activity"], Activity))
