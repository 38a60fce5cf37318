"""Readings without a value as a notebook's file has them: one entry a reason, for they take the most room.

A record has a reading for each of them again when it is read (`Record.from_json`).
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

#: A quantity of a later version, of which nobody here knows the unit.
_UNKNOWN_UNIT = "?"


class NotMeasured(Struct, frozen=True, omit_defaults=True):
    """Quantities that could not be measured for one reason, and what else their readings have in common.

    Nothing stands for what most have: the scope of the cell, and no source.
    """

    quantities: tuple[Annotated[str, Meta(pattern="^[a-z][a-z0-9_]{1,63}$")], ...]
    why_missing: Sentence
    scope: Scope | None = None
    source: Source | None = None
    device: str | None = None
    detail: Sentence | None = None

    def readings(self) -> Iterable[Reading]:
        """A reading of each quantity."""
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
    """What a notebook's file has of a record beside the record's own fields."""

    not_measured: tuple[NotMeasured, ...] = ()


def gathered(readings: Sequence[Reading]) -> tuple[tuple[Reading, ...], dict[str, Any]]:
    """The readings that say more than that, and what a notebook's file has of the others."""
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
    saved: dict[str, Any] = decoding.to_json(Saved(tuple(map(_gathered, groups.values()))), texts=False)
    return tuple(kept), saved


def spread(readings: tuple[Reading, ...], data: Any) -> tuple[Reading, ...]:
    """All readings of a record that was saved as `data`, in the order of a record's quantities.

    `readings` are those that it has by themselves; raises RecordError where the others are none.
    """
    saved = {name: data[name] for name in Saved.__struct_fields__ if name in data}
    groups = decoding.decode(Saved, saved, "the record").not_measured
    if not groups:
        return readings
    every = [*readings, *(one for group in groups for one in group.readings())]
    return tuple(sorted(every, key=lambda one: _ORDER.get(one.quantity, len(_ORDER))))


def _gathered(alike: Sequence[Reading]) -> NotMeasured:
    first = alike[0]
    assert first.why_missing is not None  # that is what they were chosen by
    return NotMeasured(
        tuple(one.quantity for one in alike),
        first.why_missing,
        None if first.scope == "cell" else first.scope,
        None if first.source == "none" else first.source,
        first.device,
        first.detail,
    )
