"""Tables of the times per operation of a profiled cell: the devices first, then the host."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_mlgpu.measure.ops.events import LAYERS
from jupyter_mlgpu.record import units
from jupyter_mlgpu.record.record import OpStat, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible
from jupyter_mlgpu.show.page.model import Table

#: Most operations that a receipt shows for each device and for the host.
TOP = 10

_COUNT, _SELF, _TOTAL, _SHARE = say("Count"), say("Self"), say("Total"), say("Share")
HEADER = (say("Operation"), say("Type"), _COUNT, _SELF, _TOTAL, _SHARE)

_LAYER = say("Layer")

#: Optional columns, which are shown only if the profiler provides them.
_COPIED = say("Copied")
_MORE = (say("Input shapes"), _COPIED, "FLOP")

#: The number columns.
_FIGURES = (_COUNT, _SELF, _TOTAL, _SHARE, _COPIED, "FLOP")

SENTENCE = say("Profiled: its times include what the profiler costs, so they are no timing of the cell.")


def tables(record: Record, name_limit: int) -> list[Table]:
    """Return a table per framework and device, and one per framework for the host, sorted by self time."""
    groups: dict[tuple[bool, str, str], list[OpStat]] = {}
    for row in record.ops:
        groups.setdefault((row.plane != "device", row.device, row.profiler), []).append(row)
    return [
        _table(device, profiler, rows, name_limit) for (_, device, profiler), rows in sorted(groups.items())
    ]


def _table(device: str, profiler: str, rows: Sequence[OpStat], name_limit: int) -> Table:
    place = say("the host's threads") if device == "host" else device
    rows = sorted(rows, key=lambda row: -row.self_time)
    more = [_told(row, name_limit) for row in rows[:TOP]]
    columns = [column for column in range(len(_MORE)) if any(one[column] for one in more)]
    header = (_LAYER if device == LAYERS else HEADER[0], *HEADER[1:], *(_MORE[column] for column in columns))
    shown_rows = tuple(
        (*_row(row, name_limit), *(one[column] for column in columns))
        for row, one in zip(rows, more, strict=False)
    )
    below = say("and {count} more", count=len(rows) - len(shown_rows)) if len(rows) > len(shown_rows) else ""
    if device == LAYERS:
        caption = say("Layers ({profiler})", profiler=profiler)
    else:
        caption = say("Operations on {place} ({profiler})", place=place, profiler=profiler)
    return Table(header, shown_rows, _FIGURES, caption, below)


def _row(row: OpStat, name_limit: int) -> tuple[str, ...]:
    return (
        _short(row.name, name_limit),
        _short(row.type, 24),
        f"{row.count:,}",
        units.seconds(row.self_time),
        units.seconds(row.total_time),
        "" if row.share is None else f"{row.share * 100:.1f} %",
    )


def _told(row: OpStat, name_limit: int) -> tuple[str, ...]:
    return (
        "" if row.shapes is None else _short(row.shapes, name_limit),
        "" if row.bytes is None else units.size(row.bytes),
        "" if row.flops is None else f"{row.flops:.3g}",
    )


def _short(name: str, limit: int) -> str:
    # The end of a path is more specific than its beginning: .../dense_1/MatMul.
    name = " ".join(visible(name).split())
    if len(name) <= limit:
        return name
    return f"…{name[1 - limit :]}" if "/" in name else f"{name[: limit - 1]}…"
