"""What limited a traced block or an epoch, added to its record by the room that explains."""

from __future__ import annotations

from msgspec.structs import replace

from jupyter_mlgpu import measure
from jupyter_mlgpu.measure import guarded
from jupyter_mlgpu.measure.recorder import Measurement
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say


def explained(record: Record, measurement: Measurement, runtime: Runtime) -> Record:
    """The record with its limit; where that fails, with the reason, for the user's code goes on."""
    try:
        return measure.explain(record, runtime.in_blocks(measurement.activity), runtime)
    except Exception as error:
        why = say("The measurement failed ({error}).", error=guarded.words(error))
        return replace(record, why_no_limit=why)
