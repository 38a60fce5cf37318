"""Measurement of one cell: recorder, device selection, probes, native output, profiles and frameworks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.activity.activity import Activity
    from jupyter_mlgpu.measure.runtime import Runtime
    from jupyter_mlgpu.record.record import Record

#: Adds the limit to the record of a traced block or an epoch. `pipeline.connect` sets it.
explain: Callable[[Record, Activity | None, Runtime], Record]
