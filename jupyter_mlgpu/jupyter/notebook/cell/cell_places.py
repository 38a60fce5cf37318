"""Evidence of where a cell ran, from the values that its code names, if a framework does not report it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.explain.limits.calls import frameworks_called
from jupyter_mlgpu.jupyter.notebook.cell.named_values import named_values
from jupyter_mlgpu.jupyter.notebook.cell.record_stages import EndedCell, with_notes
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Backend
from jupyter_mlgpu.measure.frameworks.placed_values import PlacedValue
from jupyter_mlgpu.measure.frameworks.places import with_values
from jupyter_mlgpu.record.record import NO_WORK_SEEN, Record
from jupyter_mlgpu.record.sentence import joined, say

#: Seconds of a cell's wall time from which a model left on the CPU is mentioned.
_WORTH_MOVING_S = 1.0


class CellPlaces:
    """Adds the evidence to a cell's record, again when the GPUs' figures arrive late."""

    def __init__(
        self, cell: EndedCell, backends: Callable[[], Sequence[Backend]], namespace: Mapping[str, Any]
    ) -> None:
        self._cell = cell
        self._backends = backends
        self._namespace: Mapping[str, Any] | None = namespace
        self._placed: dict[str, Sequence[PlacedValue]] = {}

    def add(self, record: Record) -> Record:
        """Return the record with the evidence, unless the GPUs' figures show it, or may do so later.

        The evidence of a default device is removed if the code names devices itself. The values are looked up
        in the first call only, when the cell has just ended; none is kept.
        """
        return _without_default_devices(self._with_values(record), self._cell.code)

    def _with_values(self, record: Record) -> Record:
        unknown = {
            name for name, one in self._cell.observed.items() if one.ran_on is None and one.only is None
        }
        if not unknown:
            return record
        worked = self._worked()
        if self._namespace is not None and unknown & worked:
            values = named_values(self._cell.code, self._namespace)
            self._placed = {
                one.name: one.placed_values(values) for one in self._backends() if one.name in unknown
            }
        self._namespace = None
        if record.unfinished or any(work.launches for work in record.gpu_work):
            return record
        if not unknown & worked:
            gpu_worked = any(one.value for one in record.readings if one.quantity == "device_time")
            if record.device.ran_on is not None or gpu_worked:
                return record
            return replace(record, device=replace(record.device, why_missing=NO_WORK_SEEN))
        places = with_values(record.device, self._placed, self._backends(), self._cell.observed, worked)
        record = replace(record, device=places.device)
        long = (record.reading("wall_time").value or 0) >= _WORTH_MOVING_S
        return with_notes(record, places.notes) if long and not self._cell.devices else record

    def _worked(self) -> set[str]:
        """Return the frameworks that are known to have computed in the cell."""
        worked = {name for name, one in self._cell.observed.items() if one.worked}
        return worked if self._cell.activity is None else worked | frameworks_called(self._cell.activity)


def _without_default_devices(record: Record, code: str) -> Record:
    """Return the record without the evidence of a default device if the code names devices itself."""
    named = [
        entry
        for entry in record.device.ran_on or ()
        if entry.evidence == "default device"
        and (pattern := registry.framework(entry.framework).names_device) is not None
        and re.search(pattern, code)
    ]
    if not named:
        return record
    rest = tuple(entry for entry in record.device.ran_on or () if entry not in named)
    titles = ", ".join(registry.title(entry.framework) for entry in named)
    why = say("The cell names a device or stream of {framework} itself.", framework=titles)
    device = replace(
        record.device,
        ran_on=rest or None,
        why_missing=joined(*filter(None, [record.device.why_missing]), why),
    )
    return replace(record, device=device)
