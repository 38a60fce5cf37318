"""The receipt as Jupyter stores it: our own type for the sidebar's view, HTML and plain text beside it.

A notebook file holds many receipts, so their size is bounded: 4 kB for a plain cell, 64 kB with log
notes or operations. What does not fit is left out, counted and named in the record's `cut`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render import html, text

MIME_TYPE = "application/vnd.jupyter-mlgpu.record+json"
PLAIN_LIMIT = 4_096
FULL_LIMIT = 65_536

# How deep an output's data stands in a notebook file: notebook, cells, cell, outputs, output.
_DEPTH = 5

# What is easiest to miss goes first.
_CUT_ORDER = ("ops", "logs", "facts", "notes")


def bundle(record: Record) -> dict[str, Any]:
    """The MIME bundle of a receipt, within `PLAIN_LIMIT` bytes, or `FULL_LIMIT` with logs or operations."""
    limit = FULL_LIMIT if record.logs or record.ops else PLAIN_LIMIT
    cut: dict[str, int] = {}
    made = _make(record, cut)
    while _bytes(made) > limit:
        part = next((part for part in _CUT_ORDER if getattr(record, part)), None)
        if part is None:
            # The plain text says the same in few words, and every viewer falls back to it.
            cut["text/html"] = 1
            made = _make(record, cut)
            break
        record, left_out = _halve(record, part)
        cut[part] = cut.get(part, 0) + left_out
        made = _make(record, cut)
    return made


def _make(record: Record, cut: Mapping[str, int]) -> dict[str, Any]:
    data = record.to_json()
    if cut:
        data["cut"] = dict(cut)
    made = {MIME_TYPE: data, "text/html": html.receipt(record, cut), "text/plain": text.receipt(record, cut)}
    if "text/html" in cut:
        del made["text/html"]
    return made


def _halve(record: Record, part: str) -> tuple[Record, int]:
    items = getattr(record, part)
    keep = len(items) // 2
    kept = dict(list(items.items())[:keep]) if isinstance(items, Mapping) else items[:keep]
    changes: dict[str, Any] = {part: kept}
    return dataclasses.replace(record, **changes), len(items) - keep


def _bytes(made: dict[str, Any]) -> int:
    # As a notebook file stores it: one line an item, indented by one, inside a cell's outputs. Writing
    # it so is slow (Python's indenting encoder), so the line ends and indents are counted apart.
    compact = json.dumps(made, ensure_ascii=False, separators=(",", ": "))
    return len(compact.encode()) + _layout(made, _DEPTH)


def _layout(value: Any, depth: int) -> int:
    if not isinstance(value, dict | list) or not value:
        return 0
    items = value.values() if isinstance(value, dict) else value
    # Each item stands on a line of its own, one deeper; the closing bracket on one more.
    return len(value) * (depth + 2) + (depth + 1) + sum(_layout(item, depth + 1) for item in items)
