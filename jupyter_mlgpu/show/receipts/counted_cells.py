"""The cells of a notebook that count in a sentence about it, each with its time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import repeats


class CellTime(NamedTuple):
    """A cell that counts, and the seconds that it counts with."""

    record: Record
    seconds: float


def counted(records: Sequence[Record]) -> list[CellTime]:
    """Return the cells that count, in their order, with the time of each.

    Records of this kernel come before loaded ones, and these before replayed ones: only the first of the
    three that there are count. Of a cell that several kernels ran, only those of the last one count. What ran
    inside a cell or in its engines is in the cell's time, a repeated cell counts with the median of its runs,
    and a profiled cell does not count, because its time is not a timing. Failed and interrupted cells count.
    """
    outer = _not_nested(_of_last_kernel(_of_one_origin(records)))
    cells = _without_repeats(outer)
    return [CellTime(one.record, _until_next(one, following)) for one, following in _with_next(cells)]


def _of_one_origin(records: Sequence[Record]) -> list[Record]:
    for origin in ("live", "loaded", "replayed"):
        found = [one for one in records if one.origin == origin]
        if found:
            return [one for one in found if one.run.engine is None] or found
    return []


def _of_last_kernel(records: Sequence[Record]) -> Sequence[Record]:
    """Return the records without those of cells that a later kernel ran again."""
    if len({one.run.id for one in records}) < 2:
        return records
    last: dict[tuple[str | None, str | None], Record] = {}
    for record in records:
        cell = (record.run.notebook, record.cell.id)
        if cell not in last or record.started_at >= last[cell].started_at:
            last[cell] = record
    return [
        one
        for one in records
        if one.cell.id is None or one.run.id == last[one.run.notebook, one.cell.id].run.id
    ]


def _not_nested(records: Sequence[Record]) -> list[Record]:
    """Return the records without those that ran within another one, such as an epoch in its cell."""
    longest: dict[str, tuple[int, int]] = {}  # of each kernel, the record so far that ended last
    inner = set()
    for record in sorted(records, key=lambda one: one.started_monotonic_ns):
        start = record.started_monotonic_ns
        end = start + _nanoseconds(record.reading("wall_time").value)
        begun, ended = longest.get(record.run.id, (start, start))
        if begun < start and end <= ended:
            inner.add(record.key)
        elif end >= ended:
            longest[record.run.id] = start, end
    return [one for one in records if one.key not in inner]


def _without_repeats(records: Sequence[Record]) -> list[CellTime]:
    """Return the timed cells with their wall time. A repeated cell has one, its median run."""
    cells: dict[object, list[Record]] = {}
    for record in records:
        repeated = (record.code, record.cell.execution_count)
        cells.setdefault(record.key if record.repeat is None else repeated, []).append(record)
    return [one for runs in cells.values() for one in _one_run(runs)]


def _one_run(runs: Sequence[Record]) -> list[CellTime]:
    light = [
        CellTime(one, wall)
        for one in runs
        if one.mode == "light" and (wall := one.reading("wall_time").value) is not None
    ]
    timed = [
        one
        for one in light
        if one.record.repeat is None or 0 < one.record.repeat.number <= one.record.repeat.of
    ]
    ordered = sorted(timed or light, key=lambda one: one.seconds)
    if ordered:
        return [ordered[(len(ordered) - 1) // 2]]
    walls = repeats.timing(runs[-1])  # a saved notebook has only the last run, with the times of the others
    return [CellTime(runs[-1], median(walls))] if walls else []


def _with_next(cells: Sequence[CellTime]) -> list[tuple[CellTime, Record | None]]:
    """Return each cell with the record that began next in its kernel."""
    following: dict[tuple[str, int], Record] = {}
    previous: dict[str, Record] = {}
    for one, _ in sorted(cells, key=lambda one: one.record.started_monotonic_ns):
        if one.run.id in previous:
            following[previous[one.run.id].key] = one
        previous[one.run.id] = one
    return [(one, following.get(one.record.key)) for one in cells]


def _until_next(cell: CellTime, following: Record | None) -> float:
    """Return a cell's wall time, and the time after it that its GPU worked while no other cell ran."""
    duration = cell.record.duration
    if not cell.record.asynchronous or duration is None:
        return cell.seconds
    if following is not None:
        free = following.started_monotonic_ns - cell.record.started_monotonic_ns
        duration = min(_nanoseconds(duration), free) / 1e9
    return max(cell.seconds, duration)


def _nanoseconds(seconds: float | None) -> int:
    return round((seconds or 0.0) * 1e9)
