"""One cell: the recorder, the device asked for, probes, native lines as they come, profiles, frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record.record import Record

#: Adds what limited it to the record of a traced block or an epoch, which this room makes. Set by
#: `pipeline.connect`.
explain: Callable[[Record, Activity | None, Runtime], Record]
