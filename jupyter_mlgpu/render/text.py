"""Records as plain text: for terminals, logs, and viewers that show nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render import words


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """The receipt's line, and a line for each note; `cut` counts what was left out for size."""
    label = words.label(record)
    head = f"[mlgpu] {label + ': ' if label else ''}{words.line(record)}"
    return "\n".join([head, *(f"        {note}" for note in [*record.notes, *words.left_out(cut)])])


def table(records: Sequence[Record]) -> str:
    """One line a record: number, time, CPU time, memory, where it ran, first line of code."""
    if not records:
        return "No records yet: run a cell with tracing on."
    rows = [("cell", "wall", "CPU", "peak memory", "where", "code")]
    rows += [
        (
            str(record.cell.sequence),
            words.figure(record.reading("wall_time")),
            words.figure(record.reading("cpu_time")),
            words.figure(record.reading("peak_memory_process")),
            ", ".join(filter(None, [words.label(record), words.where(record)])),
            record.cell.name,
        )
        for record in records
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
