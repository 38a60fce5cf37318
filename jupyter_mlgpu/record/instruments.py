"""Which readings of several records are of the same instrument: those of one source and one device.

A wall time that includes waiting for GPUs, and one that is that of the code alone, are two.

A quantity may be read by several instruments in a cell: each GPU has an allocator of its own. `Instruments`
puts the readings of a quantity in order, so that one instrument's figures are compared with its own alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jupyter_mlgpu.record.reading import Reading, Source
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say

#: What tells the wall time of an asynchronous record from that of others.
CODE_ALONE = say("of the code alone")


class Instrument(NamedTuple):
    """A kind of instrument and the device it was pointed at, None where it is of none.

    `detail` is None where these two tell it apart. Where two instruments of a kind read the same device in
    one cell, such as the allocators of two frameworks, it says which of them this is.
    """

    source: Source
    device: str | None
    detail: Sentence | None = None

    def __str__(self) -> str:
        """`NVML, GPU 0 (NVIDIA H200)`."""
        return ", ".join(filter(None, self))

    @property
    def short(self) -> str:
        """What people call it: what tells it apart, its device, or its kind."""
        return self.detail or self.device or self.source


class Instruments:
    """The instruments that read one quantity in some records."""

    def __init__(self, records: Iterable[Record], quantity: str) -> None:
        self._quantity = quantity
        self._twice: set[tuple[Source, str | None]] = set()
        for record in records:
            details: dict[tuple[Source, str | None], Sentence | None] = {}
            for one in self._measured(record):
                if details.setdefault((one.source, one.device), one.detail) != one.detail:
                    self._twice.add((one.source, one.device))

    def values(self, record: Record) -> dict[Instrument, float]:
        """The record's known values by instrument.

        Of several readings by one instrument, the largest value stands for them.
        """
        readings = self.readings(record)
        return {one: reading.value for one, reading in readings.items() if reading.value is not None}

    def readings(self, record: Record) -> Mapping[Instrument, Reading]:
        """The record's known readings by instrument, as in `values`."""
        largest: dict[Instrument, Reading] = {}
        for one in self._measured(record):
            instrument = self._instrument(one, record)
            before = largest.get(instrument)
            if before is None or (before.value or 0) < (one.value or 0):
                largest[instrument] = one
        return largest

    def _measured(self, record: Record) -> Iterable[Reading]:
        return (one for one in record.readings if one.quantity == self._quantity and one.value is not None)

    def _instrument(self, reading: Reading, record: Record) -> Instrument:
        kind = reading.source, reading.device
        if self._quantity == "wall_time" and record.asynchronous:
            return Instrument(*kind, CODE_ALONE)
        return Instrument(*kind, reading.detail if kind in self._twice else None)


def called(instruments: Iterable[Instrument]) -> dict[Instrument, str]:
    """What people call each of some instruments: in short where that is no other's name, too."""
    every = list(instruments)
    short = [one.short for one in every]
    return {one: one.short if short.count(one.short) == 1 else str(one) for one in every}
