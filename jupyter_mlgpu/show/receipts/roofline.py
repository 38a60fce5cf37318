"""A cell under its machine's roof: the benchmark's chart with one more point, and a table of the same."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.record import WORKED_IN, Record
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.show.bench.charts import roof, under_roofs
from jupyter_mlgpu.show.page.chart import Chart, Point, Series
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.receipts import limits

TITLE = say("Where the cell stands under this machine's roof")
#: The least and the largest rate per second, and FLOP per byte, that can be drawn.
_LEAST, _MOST = 1e-9, 1e21
#: The table's quantities, in order.
ROWS = (
    "flops",
    "bytes_moved",
    "bytes_of_large_calls",
    "flop_rate",
    "peak_flop_rate",
    "flop_share",
    "byte_rate",
    "peak_byte_rate",
    "byte_share",
)


def chart(record: Record) -> Chart | None:
    """Return the cell's point and its roof, or None if the cell's rate or the roof is unknown."""
    rate, flops, moved = _value(record, "flop_rate"), _value(record, "flops"), _value(record, "bytes_moved")
    peak, speed = _value(record, "peak_flop_rate"), _value(record, "peak_byte_rate")
    if not (rate and flops and moved and peak and speed):
        return None
    if not all(_LEAST <= one <= _MOST for one in (rate, peak, speed, flops / moved)):
        return None  # from a foreign record: no machine has such figures, and an axis is finite
    name = _roof_name(record)
    label = say(
        "{rate} at {intensity} FLOP per byte",
        rate=units.decimal(rate, "FLOP/s"),
        intensity=f"{flops / moved:.3g}",
    )
    dot = Series(say("this cell"), (Point(flops / moved, rate / 1e12, label),), 1, "points")
    return under_roofs([dot, *roof(name, 0, peak / 1e12, speed, [flops / moved])], name)


def table(record: Record) -> Table | None:
    """Return the figures of the point with their sources, or None if none is known."""
    rows = [one for name in ROWS for one in record.readings if one.quantity == name]
    if not any(one.value is not None for one in rows):
        return None
    return limits.evidence(rows, caption=TITLE)


def page(record: Record) -> Page | None:
    """Return both as a page for a cell, or None if nothing is known."""
    below, drawn = table(record), chart(record)
    if below is None:
        return None
    return Page((below,), title=TITLE, charts=(drawn,) if drawn else ())


def _value(record: Record, quantity: str) -> float | None:
    found = record.find(quantity)
    return None if found is None or found.value is None else float(found.value)


def _roof_name(record: Record) -> Sentence:
    fact = record.facts.get(WORKED_IN)
    value: Mapping[str, str] = fact.value if fact is not None and isinstance(fact.value, Mapping) else {}
    framework = str(value.get("framework", ""))
    return Sentence(f"{registry.title(framework)} {value.get('device', '')} {value.get('type', '')}".strip())
