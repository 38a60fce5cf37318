"""Groups the readings of several records by instrument, that is, by source and device.

A quantity may be read by several instruments in a cell: each GPU has its own allocator. `Instruments` sorts
the readings of a quantity, so that figures are compared only with those of the same instrument. A wall time
that includes waiting for GPUs and one of the code alone count as two instruments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from jupyter_mlgpu.record.reading import Reading, Source
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say

#: The detail that marks the wall time of an asynchronous record.
CODE_ALONE = say("of the code alone")


class Instrument(NamedTuple):
    """A kind of instrument and the device that it measured, or None if it measured no device.

    `detail` is None if source and device identify the instrument. If two instruments of a kind read the same
    device in one cell, such as the allocators of two frameworks, `detail` distinguishes them.
    """

    source: Source
    device: str | None
    detail: Sentence | None = None

    def __str__(self) -> str:
        """Return the full name, such as `NVML, GPU 0 (NVIDIA H200)`."""
        return ", ".join(filter(None, self))

    @property
    def short(self) -> str:
        """The short name: its detail, or else its device, or else its kind."""
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
        """Return the record's known values by instrument.

        If an instrument has several readings, the largest value is returned.
        """
        readings = self.readings(record)
        return {one: reading.value for one, reading in readings.items() if reading.value is not None}

    def readings(self, record: Record) -> Mapping[Instrument, Reading]:
        """Return the record's known readings by instrument, chosen as in `values`."""
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


def display_names(instruments: Iterable[Instrument]) -> dict[Instrument, str]:
    """Return each instrument's name: the short one, unless another instrument has the same."""
    every = list(instruments)
    short = [one.short for one in every]
    return {one: one.short if short.count(one.short) == 1 else str(one) for one in every}
