"""What one item of a cell took, in a sentence for its receipt."""

from __future__ import annotations

from jupyter_mlgpu.items import PerItem, per_item
from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render import words


def sentence(record: Record) -> str | None:
    """`6,400 items: 1,280 a second; 0.55 J ± 0.01 each (NVML ...)`; None where no items were told."""
    found = per_item(record)
    if found is None:
        return None
    parts = [_rate(found), *(f"{words.figure(one)} each ({one.instrument})" for one in found.energy)]
    if not found.energy:
        parts.append("energy not measured")
    return f"{found.items:,} item{'s' if found.items != 1 else ''}: {'; '.join(parts)}."


def _rate(found: PerItem) -> str:
    if found.per_second is None:
        return "items a second not measured"
    return (
        f"{found.per_second:,.0f} a second" if found.per_second >= 100 else f"{found.per_second:.3g} a second"
    )
