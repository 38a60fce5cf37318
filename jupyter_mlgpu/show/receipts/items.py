"""The sentence of a receipt on time and energy per item."""

from __future__ import annotations

from functools import reduce

from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.items import PerItem, per_item
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence, say, say_count


def sentence(record: Record) -> Sentence | None:
    """Return `6,400 items: 1,280 per second; 0.55 J ± 0.01 each (NVML ...)`, or None without items."""
    found = per_item(record)
    if found is None:
        return None
    energies = [
        say("{figure} each ({source})", figure=units.figure(one), source=one.instrument)
        for one in found.energy
    ]
    figures = reduce(
        lambda one, more: say("{one}; {more}", one=one, more=more),
        energies or [say("energy not measured")],
        _rate(found),
    )
    return say_count("{count} item: {figures}.", "{count} items: {figures}.", found.items, figures=figures)


def _rate(found: PerItem) -> Sentence:
    if found.per_second is None:
        return say("items per second not measured")
    rate = f"{found.per_second:,.0f}" if found.per_second >= 100 else f"{found.per_second:.3g}"
    return say("{rate} per second", rate=rate)
