"""Which cells get a receipt: all of them, or those that took so long and those that have more to say.

Somebody who runs many short cells sets it in JupyterLab. Each page tells the kernel, on the control channel:

    {"type": "receipts", "from_seconds": 0.2}

Records are made all the same, and the sidebar has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.receipts import notes

#: Seconds from which a cell always has one.
ALWAYS_FROM = 1.0
_CELL_MAGICS = ("%%mlc_", "%%mlgpu")


@dataclass(slots=True)
class ReceiptThreshold:
    """`seconds`: what a cell takes at least to get a receipt for its time alone."""

    seconds: float = 0.0

    def set(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """A browser sets it; raises UsageError for what is no number of seconds."""
        seconds = content.get("from_seconds")
        if (
            isinstance(seconds, bool)
            or not isinstance(seconds, int | float)
            or not 0 <= seconds <= ALWAYS_FROM
        ):
            raise UsageError(say("The time from which receipts are shown must be 0 to 1 seconds."))
        self.seconds = float(seconds)
        return {}

    def wants(self, record: Record, code: str) -> bool:
        """Whether a cell gets its receipt; one does that failed, says something, or was asked about."""
        wall = record.reading("wall_time").value
        return (
            wall is None
            or wall >= self.seconds
            or record.outcome != "ok"
            or record.mode == "profiled"
            or bool(record.notes)
            or any(map(notes.to_act_on, record.logs))
            or code.lstrip().startswith(_CELL_MAGICS)
            or jupyter.in_a_lesson()  # their receipts are part of what they teach
        )
