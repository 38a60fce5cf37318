"""One cell: the recorder, the device asked for, probes, native lines as they come, profiles, frameworks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.kit import Kit
    from jupyter_mlgpu.record.record import Record


class Explain(Protocol):
    """Explains what was measured; `pipeline.explained` is one."""

    def __call__(self, record: Record, activity: Activity | None, kit: Kit) -> Record:
        """Return the record of a traced block or an epoch with what limited it."""


#: Enriches the records of blocks and epochs, which this room makes. Set by `pipeline.connect`.
explain: Explain
