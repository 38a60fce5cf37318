"""The compact form of readings without a value in a notebook file: one entry per reason, to save space.

When a record is read (`Record.from_json`), it gets a reading for each of them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.quantities import KNOWN
from jupyter_mlgpu.record.reading import Reading, Scope, Source
from jupyter_mlgpu.record.sentence import Sentence

_ORDER = {quantity: place for place, quantity in enumerate(KNOWN)}

#: The unit of a quantity that a later version added and this one does not know.
_UNKNOWN_UNIT = "?"


class NotMeasured(Struct, frozen=True, omit_defaults=True):
    """Quantities that could not be measured for one reason, and the common fields of their readings.

    The most common values, scope `cell` and source `none`, are left out.
    """

    quantities: tuple[Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{1,63}$")], ...]
    why_missing: Sentence
    scope: Scope | None = None
    source: Source | None = None
    device: str | None = None
    detail: Sentence | None = None

    def readings(self) -> Iterable[Reading]:
        """Yield a reading for each quantity."""
        for quantity in self.quantities:
            unit = KNOWN[quantity].unit if quantity in KNOWN else _UNKNOWN_UNIT
            yield Reading(
                quantity,
                None,
                unit,
                self.scope or "cell",
                self.source or "none",
                0,
                self.why_missing,
                device=self.device,
                detail=self.detail,
            )


class Saved(Struct, frozen=True):
    """The fields that a notebook file adds to those of the record."""

    not_measured: tuple[NotMeasured, ...] = ()


def group_by_reason(readings: Sequence[Reading]) -> tuple[tuple[Reading, ...], dict[str, Any]]:
    """Return the readings to write in full, and the compact form of the others for a notebook file."""
    kept: list[Reading] = []
    groups: dict[tuple[str, Scope, Source, str | None, str | None], list[Reading]] = {}
    for one in readings:
        known = KNOWN.get(one.quantity)
        if one.why_missing is None or known is None or known.unit != one.unit or one.samples:
            kept.append(one)
        else:
            key = (one.why_missing, one.scope, one.source, one.device, one.detail)
            groups.setdefault(key, []).append(one)
    if not groups:
        return tuple(kept), {}
    saved: dict[str, Any] = decoding.to_json(Saved(tuple(map(_group, groups.values()))), texts=False)
    return tuple(kept), saved


def ungroup(readings: tuple[Reading, ...], data: Any) -> tuple[Reading, ...]:
    """Return all readings of a record that was saved as `data`, in the order of the record's quantities.

    `readings` are those written in full. Raises RecordError if the compact form is invalid.
    """
    saved = {name: data[name] for name in Saved.__struct_fields__ if name in data}
    groups = decoding.decode(Saved, saved, "the record").not_measured
    if not groups:
        return readings
    every = [*readings, *(one for group in groups for one in group.readings())]
    return tuple(sorted(every, key=lambda one: _ORDER.get(one.quantity, len(_ORDER))))


def _group(alike: Sequence[Reading]) -> NotMeasured:
    first = alike[0]
    assert first.why_missing is not None  # `gathered` chose them by it
    return NotMeasured(
        tuple(one.quantity for one in alike),
        first.why_missing,
        None if first.scope == "cell" else first.scope,
        None if first.source == "none" else first.source,
        first.device,
        first.detail,
    )
