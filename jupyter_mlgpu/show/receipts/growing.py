"""Memory growth over the runs of a cell: a receipt's sentence, and the table of `%mlc_trace growth`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jupyter_mlgpu.explain.growth import WORTH, CellGrowth, Growth
from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, joined, say, say_count
from jupyter_mlgpu.show.page import text
from jupyter_mlgpu.show.page.model import Page, Table
from jupyter_mlgpu.show.receipts import head

_LOOK_FOR = say("Look for what each run keeps: growing lists, models created again, `Out`.")
_ABOUT = say(
    "Memory in use after the cell ended, over its last runs; its first run and failed runs "
    "are left out. `By itself` leaves out what came while other cells ran."
)


def sentence(cell: CellGrowth) -> Sentence | None:
    """Return the growth with its interval as a sentence for a receipt, or None if it is not significant."""
    growing = [one for one in cell.growths if one.growing]
    if not growing:
        return None
    grown = _growth_text(growing[0], first=True)
    for one in growing[1:]:
        grown = say("{one}, {more}", one=grown, more=_growth_text(one, first=False))
    runs = growing[0].runs
    if cell.newest.cell.source_digest is None:
        head = say(
            "Over the last {runs} runs of the block {name}, {growth} (95 % confidence, first run left out).",
            runs=runs,
            name=repr(cell.newest.cell.name),
            growth=grown,
        )
    else:
        head = say(
            "Over the last {runs} runs of this cell, {growth} (95 % confidence, first run left out).",
            runs=runs,
            growth=grown,
        )
    return joined(head, _LOOK_FOR)


def table(cells: Sequence[CellGrowth], called: Mapping[tuple[str, int], str] = {}) -> str:
    """Return a line for each cell and measured memory. Cells with too few runs say how many they lack.

    `called` maps the key of each cell's newest record to its name. The default is the record's own name.
    """
    if not cells:
        return say("No cell has run with tracing on yet.")
    counted = say("counted")
    grown = (say("memory"), say("growth per run"), say("95 % interval"), say("by itself"))
    columns = (say("cell"), counted, *grown, "", say("code"))
    rows = tuple(row for cell in cells for row in _rows(cell, called))
    return text.page(
        Page((translate(_ABOUT), text.in_current_language(Table(columns, rows, figures=(counted,)))))
    )


def verdict(growth: Growth) -> Sentence:
    """Return a short verdict on the interval."""
    if growth.within_noise:
        return say("not growing (within noise)")
    if growth.slope.high < 0:
        return say("shrinking")
    if growth.of_others:
        return say("growing, but mostly because of other cells in between")
    if not growth.goes_on:
        return say("grew, but hardly grows anymore")
    if growth.growing:
        return say("growing")
    return say("growing, but perhaps by less than {size} per run", size=units.size(WORTH))


def _rows(cell: CellGrowth, called: Mapping[tuple[str, int], str]) -> list[tuple[str, ...]]:
    number = called.get(cell.newest.key, cellnumbers.name(cell.newest))
    name = " ".join(filter(None, [head.label(cell.newest), cell.newest.cell.name]))
    if not cell.growths:
        needed = say_count("{count} more run needed", "{count} more runs needed", cell.too_few)
        why = needed if cell.too_few else say("its memory was not measured")
        return [(number, str(cell.counted), "", "", "", "", why, name)]
    return [
        (
            number,
            str(one.runs),
            _what(one),
            _size(one.slope.value),
            say("{low} to {high}", low=_interval(one)[0], high=_interval(one)[1]),
            "" if one.own is None else _size(one.own),
            verdict(one),
            name,
        )
        for one in cell.growths
    ]


def _what(growth: Growth) -> str:
    # The process has one figure, but each device has an allocator.
    if growth.quantity == "memory_process":
        return say("process")
    return say("allocator ({source})", source=growth.instrument.short)


def _growth_text(growth: Growth, *, first: bool) -> Sentence:
    """Return the kind of memory and its growth. Only the first one has a verb."""
    by = _by(growth)
    if growth.quantity == "memory_process":
        return say("process memory grew by {growth}", growth=by)
    if first:
        return say("allocator memory ({source}) grew by {growth}", source=growth.instrument.short, growth=by)
    return say("allocator memory ({source}) by {growth}", source=growth.instrument.short, growth=by)


def _by(growth: Growth) -> Sentence:
    """Return the growth with its interval, and the cell's own part if that is not all of it."""
    low, high = _interval(growth)
    size, own = _size(growth.slope.value), growth.own
    if own is None or abs(own - growth.slope.value) < 0.1 * growth.slope.value:
        return say("{size} per run [{low} to {high}]", size=size, low=low, high=high)
    return say(
        "{size} per run [{low} to {high}] ({own} by itself, the rest from cells in between)",
        size=size,
        low=low,
        high=high,
        own=_size(own),
    )


def _interval(growth: Growth) -> tuple[str, str]:
    """Return the ends of the interval. A common unit is written only at the second."""
    low, high = _size(growth.slope.low), _size(growth.slope.high)
    figure, _, unit = low.partition(" ")
    return figure if high.endswith(f" {unit}") else low, high


def _size(value: float) -> str:
    return units.size(round(value))  # whole bytes, so that a small negative number does not become -0 B
