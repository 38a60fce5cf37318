"""A receipt as HTML that needs nothing else: it survives nbconvert and viewers that know nothing of us."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from jupyter_mlgpu.record import Reading, Record
from jupyter_mlgpu.render import words


def receipt(record: Record, cut: Mapping[str, int] | None = None) -> str:
    """One line that opens to a table of all readings, with the reason for each that is missing."""
    label = words.label(record)
    rows = "".join(_row(reading) for reading in record.readings if reading.value is not None)
    missing = "".join(f"<div>{escape(sentence)}</div>" for sentence in words.missing(record))
    notes = "".join(f"<div>{escape(note)}</div>" for note in [*record.notes, *words.left_out(cut)])
    device = record.device.why_missing
    why = f"<div>{escape(device)}</div>" if device else ""
    return (
        f'<details style="font-size:90%;opacity:.85"><summary>'
        f"{'<b>' + escape(label) + '</b>: ' if label else ''}{escape(words.line(record))}</summary>"
        f"{notes}{why}<table>{rows}</table>{missing}</details>"
    )


def _row(reading: Reading) -> str:
    source = f"{reading.scope}, {escape(reading.source)}"
    return f"<tr><td>{words.title(reading.quantity)}<td>{words.figure(reading)}<td>{source}"
