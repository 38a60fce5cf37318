"""The number of items (images, sequences, rows) that a cell processed, and the time and energy per item.

The user gives the number, which is kept as a fact of the record. Rates are computed from it and never stored.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Fact, Record
from jupyter_mlgpu.record.sentence import Sentence

NAME = "items"


@dataclass(frozen=True, slots=True)
class PerItem:
    """The rate and energy of a cell per item.

    `per_second` is None if the time was not measured. `energy` holds joules per item for each source that was
    measured.
    """

    items: int
    per_second: float | None
    energy: tuple[Reading, ...]


def fact(items: int, source: Sentence) -> Fact:
    """Return the fact to put into `Record.facts` under `NAME`. `source` says where the number comes from.

    Raises RecordError for a number that is not at least 1.
    """
    if isinstance(items, bool) or not isinstance(items, int) or items < 1:
        raise RecordError(f"The number of items should be a whole number of at least 1, found {items!r}.")
    return Fact(items, source)


def per_item(record: Record) -> PerItem | None:
    """Return time and energy per item, or None if the record does not hold the number of items.

    A profiled cell has no rate, because its wall time is not a timing.
    """
    items_fact = record.facts.get(NAME)
    if (
        items_fact is None
        or isinstance(items_fact.value, bool)
        or not isinstance(items_fact.value, int)
        or items_fact.value < 1
    ):
        return None
    items = items_fact.value
    took = record.duration
    timed = record.mode == "light" and took is not None and took > 0
    energy = tuple(
        Reading(
            one.quantity,
            one.value / items,
            one.unit,
            one.scope,
            one.source,
            one.samples,
            device=one.device,
            detail=one.detail,
            uncertainty=None if one.uncertainty is None else one.uncertainty / items,
        )
        for one in record.readings
        if one.quantity == "energy" and one.value is not None
    )
    return PerItem(items, items / took if timed and took is not None else None, energy)
