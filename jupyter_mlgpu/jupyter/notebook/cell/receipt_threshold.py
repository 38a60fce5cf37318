"""Decides which cells get a receipt: those that took long, and those with something to report.

JupyterLab has a setting for how long that is. Each page sends it on the control channel:

    {"type": "receipts", "from_seconds": 0.2}

Records are made all the same, and the sidebar lists them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from jupyter_mlgpu import jupyter
from jupyter_mlgpu.jupyter.notebook.browser.audience import SETTING
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.record import TO_ACT_ON, Record
from jupyter_mlgpu.record.sentence import say

#: Seconds from which a cell gets a receipt for its time alone: faster ones seem to take no time. The schema
#: of JupyterLab's setting has the same default.
FROM_S = 0.1
#: Seconds from which a cell always gets a receipt: the largest threshold allowed.
ALWAYS_FROM = 1.0
_ALL = "all"
_CELL_MAGICS = ("%%mlc_", "%%mlgpu")


def threshold(environment: Mapping[str, str] = os.environ) -> float:
    """Return the threshold in seconds at first: 0 if the environment asks for the receipts of all cells."""
    return 0.0 if environment.get(SETTING) == _ALL else FROM_S


class ReceiptThreshold(Struct):
    """Decides if a cell gets a receipt; `seconds` is the shortest time that is enough by itself."""

    seconds: float = field(default_factory=threshold)

    def set(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """Set the threshold from a browser's message; raises UsageError if it is not 0 to 1 seconds."""
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
        """Return True if a cell gets a receipt.

        That is so if it took long, together with its GPU work, or if that is not known; if it failed, has
        something to report, or uses one of our cell magics.
        """
        duration = record.duration
        return (
            duration is None
            or duration >= self.seconds
            or record.outcome != "ok"
            or record.mode != "light"
            or bool(record.notes)
            or any(line.verdict in TO_ACT_ON for line in record.logs)
            or code.lstrip().startswith(_CELL_MAGICS)
            or jupyter.in_a_lesson()  # their receipts are part of what they teach
        )
