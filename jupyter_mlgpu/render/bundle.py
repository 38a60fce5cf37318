"""The receipt as Jupyter stores it: our own type for the sidebar's view, HTML and plain text beside it.

A notebook file holds many receipts, so their size is bounded: 4 kB for a plain cell, 64 kB with log
notes or operations. What does not fit is left out, counted and named in the record's `cut`.
"""

from __future__ import annotations

import json
from typing import Any

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render import html, text

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
PLAIN_LIMIT = 4_096
FULL_LIMIT = 65_536

# How deep an output's data stands in a notebook file: notebook, cells, cell, outputs, output.
_DEPTH = 5


def bundle(record: Record) -> dict[str, Any]:
    """The MIME bundle of a receipt, within `PLAIN_LIMIT` bytes, or `FULL_LIMIT` with logs or operations."""
    data = record.to_json()
    rest = {"text/html": html.receipt(record), "text/plain": text.receipt(record)}
    limit = FULL_LIMIT if record.logs or record.ops else PLAIN_LIMIT
    cut: dict[str, int] = {}
    # What is easiest to miss goes first: many operations, then log lines, facts, native names and notes.
    for part in ("ops", "logs", "facts", "notes"):
        while _bytes({MIME_TYPE: data, **rest}) > limit and data[part]:
            data[part], left_out = _half(data[part])
            cut[part] = cut.get(part, 0) + left_out
            data["cut"] = cut
    if _bytes({MIME_TYPE: data, **rest}) > limit:
        # The plain text says the same in few words, and every viewer falls back to it.
        del rest["text/html"]
        data["cut"] = {**cut, "text/html": 1}
    return {MIME_TYPE: data, **rest}


def _half(items: Any) -> tuple[Any, int]:
    keep = len(items) // 2
    kept = dict(list(items.items())[:keep]) if isinstance(items, dict) else items[:keep]
    return kept, len(items) - keep


def _bytes(data: dict[str, Any]) -> int:
    # As a notebook file stores it: indented by one, inside a cell's outputs.
    stored = json.dumps(data, ensure_ascii=False, indent=1)
    return len(stored.encode()) + _DEPTH * stored.count("\n")
