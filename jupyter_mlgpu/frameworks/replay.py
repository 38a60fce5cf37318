"""Saved records played back as if a framework ran them: for lessons on hardware that is not at hand.

Nothing of it ran here, and everything that comes out says so: records have the origin `replayed`, devices
the kind `replayed metal`, readings the source `replayed from FILE`.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from jupyter_mlgpu.errors import RecordError
from jupyter_mlgpu.frameworks.allocator import unknown
from jupyter_mlgpu.frameworks.base import (
    CAPABILITIES,
    Backend,
    Capability,
    Details,
    Device,
    Observation,
    Observed,
    Scope,
    Verified,
)
from jupyter_mlgpu.record import Evidence, RanOn, Reading, Record, missing


class ReplayBackend(Backend):
    """Records as a framework; `play` takes the place of running something."""

    name = "replay"

    def __init__(self, records: Sequence[Record], source: str) -> None:
        """`source` names the file for people. Raises RecordError where no record tells of a device."""
        self._records = tuple(record for record in records if record.device.ran_on)
        self._source = source
        if not self._records:
            raise RecordError(
                f"No record of {source} says on which device it ran, so there is nothing to play back; "
                "choose a file saved with `%mlc_trace save` after cells that used a device."
            )
        self._here = _ThisThread()

    def play(self) -> Record:
        """The next record, of those that ran on the device entered; after the last one, the first again."""
        here = self._here
        fitting = [record for record in self._records if here.device in (None, *_devices_of(record))]
        record = fitting[here.place % len(fitting)]
        here.place += 1
        here.played.append(record)
        return self._replayed(record)

    def all(self) -> list[Record]:
        """Every record that ran on a device, in their order, labelled."""
        return [self._replayed(record) for record in self._records]

    def loaded(self) -> bool:
        """The records are there."""
        return True

    def versions(self) -> Mapping[str, str]:
        """Where the records come from."""
        return {self.name: f"records of {self._source}"}

    def devices(self) -> tuple[Device, ...]:
        """The devices on which the records ran."""
        found = {entry.device: self._device(entry) for entry in _entries(self._records)}
        return tuple(found[name] for name in sorted(found))

    def details(self, device: Device) -> Details:
        """A record does not tell."""
        return Details(f"replayed from {self._source}")

    def why_no_gpu(self) -> str:
        """The records ran on none."""
        return f"No record of {self._source} ran on a GPU."

    def capabilities(self, device: Device) -> tuple[Capability, ...]:
        """What a record says; there is nothing to wait for."""
        where = Verified(f"records of {self._source}, replayed")
        return tuple(Capability(name, True, None, where) for name in CAPABILITIES)

    def enter(self, device: Device) -> ReplayScope:
        """Play only records that ran on `device`."""
        return ReplayScope(self._here, device.name)

    def synchronize(self) -> None:
        """A record has ended."""

    def memory(self, device: Device) -> tuple[Reading, ...]:
        """What the record played last says of a device that it ran on."""
        last = self._here.played[-1:]
        told = [one for record in last if device.name in _devices_of(record) for one in _held(record)]
        if not told:
            return unknown(f"What was replayed from {self._source} does not tell it.")
        return tuple(map(self._labelled, told))

    def observe(self) -> ReplayObservation:
        """Note what is played from now on."""
        return ReplayObservation(self)

    def played(self) -> list[Record]:
        """What this thread has played, as it was saved."""
        return self._here.played

    def observed(self, records: Sequence[Record]) -> Observed:
        """What records say of the devices and of the allocator's peak, labelled."""
        why = f"Replayed from {self._source}: nothing of it ran here."
        peaks = [reading for record in records for reading in _peaks(record)]
        highest = max(peaks, key=lambda reading: reading.value or 0, default=None)
        reading = (
            missing("peak_memory_allocator", f"What was replayed from {self._source} does not tell it.")
            if highest is None
            else self._labelled(highest)
        )
        return Observed(self._ran_on(records), why, (reading,))

    def _ran_on(self, records: Sequence[Record]) -> tuple[RanOn, ...]:
        entries = _entries(records)
        known = all(entry.operations is not None for entry in entries)
        counts: dict[str, int] = {}
        devices: dict[str, Device] = {}
        for entry in entries:
            counts[entry.device] = counts.get(entry.device, 0) + (entry.operations or 0)
            devices[entry.device] = self._device(entry)
        total = sum(counts.values())
        return tuple(
            RanOn(
                self.name,
                name,
                devices[name].kind,
                devices[name].native_name,
                counts[name] if known else None,
                counts[name] / total if known and total else None,
                None if known else "The record does not count operations.",
                _evidence_of(entries, name),
            )
            for name in sorted(counts, key=lambda name: counts[name], reverse=True)
        )

    def _device(self, entry: RanOn) -> Device:
        native = f"{entry.framework} {entry.native_name or entry.device}, replayed from {self._source}"
        return Device(self.name, entry.device, f"replayed {entry.kind}", native)

    def _replayed(self, record: Record) -> Record:
        return replace(
            record.with_origin("replayed").with_note(
                f"Replayed from {self._source}: nothing of it ran here."
            ),
            readings=tuple(self._labelled(reading) for reading in record.readings),
        )

    def _labelled(self, reading: Reading) -> Reading:
        detail = f"replayed from {self._source}: {reading.instrument}"
        return replace(reading, detail=detail)


class ReplayScope(Scope):
    """A device of which records are played."""

    def __init__(self, here: _ThisThread, device: str) -> None:
        self._here = here
        self._before = here.device
        self._device = device
        here.device = device

    def holds(self) -> bool:
        """False inside another scope."""
        return self._here.device == self._device

    def leave(self) -> str | None:
        """Put back what was found on entry."""
        left_open = not self.holds()
        self._here.device = self._before
        return "A replayed device was left open; it was closed." if left_open else None


class ReplayObservation(Observation):
    """What is played in one cell."""

    def __init__(self, backend: ReplayBackend) -> None:
        self._backend = backend
        self._start = len(backend.played())

    def finish(self) -> Observed:
        """What was played since the start."""
        return self._backend.observed(self._backend.played()[self._start :])


class _ThisThread(threading.local):
    def __init__(self) -> None:
        self.device: str | None = None
        self.place = 0
        self.played: list[Record] = []


def _evidence_of(entries: Sequence[RanOn], device: str) -> Evidence | None:
    """How it is known that a device worked, where all records say the same."""
    kinds = {entry.evidence for entry in entries if entry.device == device}
    return kinds.pop() if len(kinds) == 1 else None


def _entries(records: Sequence[Record]) -> list[RanOn]:
    return [entry for record in records for entry in record.device.ran_on or ()]


def _devices_of(record: Record) -> set[str]:
    return {entry.device for entry in record.device.ran_on or ()}


def _peaks(record: Record) -> list[Reading]:
    return _known(record, "peak_memory_allocator")


def _held(record: Record) -> list[Reading]:
    return _known(record, "memory_allocator")


def _known(record: Record, quantity: str) -> list[Reading]:
    return [one for one in record.readings if one.quantity == quantity and one.value is not None]
