"""Growth over the runs of a cell, in words: a receipt's sentence, and the table of `%mlc_trace growth`."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.growth import WORTH, CellGrowth, Growth
from jupyter_mlgpu.render import words

_LOOK_FOR = "Look for what each run keeps: lists that grow, models made again, `Out`."
_TITLES = {"memory_process": "process", "memory_allocator": "allocator"}


def sentence(cell: CellGrowth) -> str | None:
    """What a receipt says of growth, with its interval; None where there is nothing worth saying."""
    growing = [one for one in cell.growths if one.growing]
    if not growing:
        return None
    first, *more = (f"memory of the {_what(one)}" for one in growing)
    grew, *also = (f"by {_size(one.slope.value)} a run [{_interval(one)}]{_part(one)}" for one in growing)
    parts = [f"{first} grew {grew}", *(f"{what} {by}" for what, by in zip(more, also, strict=True))]
    runs, grown = growing[0].runs, ", ".join(parts)
    if cell.newest.cell.source_digest is None:
        head = (
            f"Over the last {runs} runs of the block {cell.newest.cell.name!r}, {grown} "
            "(95 % sure, first run left out)."
        )
    else:
        head = f"Over the last {runs} runs of this cell, {grown} (95 % sure, first run left out)."
    return f"{head} {_LOOK_FOR}"


def table(cells: Sequence[CellGrowth]) -> str:
    """A line for each cell and each memory measured; cells that ran too seldom say what they lack."""
    if not cells:
        return "No cell has run yet with tracing on."
    rows: list[tuple[str, ...]] = [
        ("cell", "counted", "memory", "growth a run", "95 % interval", "by itself", "", "code")
    ]
    for cell in cells:
        rows += _rows(cell)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "  ".join(part.ljust(width) for part, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    about = (
        "Memory in use when the cell had ended, over its last runs; its first run and those that failed are "
        "left out. `By itself` is what came while the cell ran, in the median."
    )
    return "\n".join([about, *lines])


def verdict(growth: Growth) -> str:
    """What the interval says, in a few words."""
    if growth.within_noise:
        return "not growing (within noise)"
    if growth.slope.high < 0:
        return "shrinking"
    if growth.of_others:
        return "growing, but mostly by other cells in between"
    if not growth.goes_on:
        return "grew, and hardly does any more"
    if growth.growing:
        return "growing"
    return f"growing, but perhaps by less than {words.size(WORTH)} a run"


def _rows(cell: CellGrowth) -> list[tuple[str, ...]]:
    number = str(cell.newest.cell.sequence)
    name = " ".join(filter(None, [words.label(cell.newest), cell.newest.cell.name]))
    if not cell.growths:
        more = cell.too_few
        why = f"{more} more run{'s' if more != 1 else ''} needed" if more else "its memory was not measured"
        return [(number, str(cell.counted), "", "", "", "", why, name)]
    return [
        (
            number,
            str(one.runs),
            _what(one),
            _size(one.slope.value),
            _interval(one),
            "" if one.own is None else _size(one.own),
            verdict(one),
            name,
        )
        for one in cell.growths
    ]


def _what(growth: Growth) -> str:
    title = _TITLES[growth.quantity]
    # Of the process there is one figure; each device has an allocator.
    return title if growth.quantity == "memory_process" else f"{title} ({growth.source})"


def _part(growth: Growth) -> str:
    """What the cell itself added, where that is not all of it."""
    if growth.own is None or abs(growth.own - growth.slope.value) < 0.1 * growth.slope.value:
        return ""
    return f" ({_size(growth.own)} by itself, the rest by cells in between)"


def _interval(growth: Growth) -> str:
    low, high = _size(growth.slope.low), _size(growth.slope.high)
    figure, _, unit = low.partition(" ")
    return f"{figure if high.endswith(f' {unit}') else low} to {high}"


def _size(value: float) -> str:
    return words.size(round(value))  # whole bytes, or a little less than nothing would read as -0 B
