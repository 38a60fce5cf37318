"""Removes parts of a record that is too large for a notebook's receipt or a browser's message.

The removed items are counted by part, log lines by verdict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.record.record import LogLine, Record
from jupyter_mlgpu.show.receipts import notes

#: The parts that are halved, in this order: the least noticeable first.
ORDER = ("ops", "gpu_work", "facts", "notes")
#: After this many lines in a row that are too large, the search for a smaller one ends.
_MISSES = 20

_RANKS = {verdict: number for number, verdict in enumerate(notes.VERDICTS)}


def few_lines(
    lines: Sequence[LogLine], room: int, size: Callable[[LogLine], int]
) -> tuple[tuple[LogLine, ...], dict[str, int]]:
    """Return the most important lines that fit into `room` bytes, in order, and counts of the others."""
    kept: set[int] = set()
    misses = 0
    for number, line in sorted(enumerate(lines), key=lambda item: _RANKS[notes.rank(item[1])]):
        needed = size(line)
        if needed <= room:
            kept.add(number)
            room, misses = room - needed, 0
        elif (misses := misses + 1) > _MISSES:
            break
    left_out = Counter(notes.rank(line) for number, line in enumerate(lines) if number not in kept)
    counts = {notes.CUT + verdict: left_out[verdict] for verdict in notes.VERDICTS if left_out[verdict]}
    return tuple(line for number, line in enumerate(lines) if number in kept), counts


def halve(record: Record, part: str) -> tuple[Record, dict[str, int]]:
    """Return the record with the first half of a part, and the number of items that were removed."""
    items = getattr(record, part)
    keep = len(items) // 2
    kept = dict(list(items.items())[:keep]) if isinstance(items, Mapping) else items[:keep]
    changes: dict[str, Any] = {part: kept}
    return replace(record, **changes), {part: len(items) - keep}


def add_counts(cut: Mapping[str, int], more: Mapping[str, int]) -> dict[str, int]:
    """Return the sum of two counts of removed items."""
    return {**cut, **{part: cut.get(part, 0) + count for part, count in more.items()}}
