"""Records of another machine or another day, displayed with a label; nothing of them runs."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from jupyter_mlgpu.measure.frameworks.base import Device
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say


class Replay:
    """The records of a file that ran on a device, and these devices."""

    def __init__(self, records: Sequence[Record], source: str) -> None:
        """Label the records; `source` names their file. Raises RecordError if no record names a device."""
        self._source = source
        fitting = [record for record in records if record.device.ran_on]
        if not fitting:
            raise RecordError(
                f"No record of {source} says on which device it ran, so there is nothing to play back; "
                "choose a file saved with `%mlc_trace save` after cells that used a device."
            )
        self.records = tuple(map(self._replayed, fitting))

    def devices(self) -> tuple[Device, ...]:
        """Return the devices on which the records ran."""
        ran_on = [one for record in self.records for one in record.device.ran_on or ()]
        found = {
            one.device: Device(
                "replay",
                one.device,
                f"replayed {one.kind}",
                f"{one.framework} {one.native_name or one.device}, replayed from {self._source}",
            )
            for one in ran_on
        }
        return tuple(found[name] for name in sorted(found))

    def _replayed(self, record: Record) -> Record:
        return replace(
            record.with_origin("replayed").with_note(
                say("Replayed from {source}: nothing ran here.", source=self._source)
            ),
            readings=tuple(map(self._labelled, record.readings)),
        )

    def _labelled(self, reading: Reading) -> Reading:
        return replace(
            reading,
            detail=say("replayed from {source}: {origin}", source=self._source, origin=reading.instrument),
        )
