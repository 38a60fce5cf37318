"""Charts of records, each with a table of the same figures: time, memory, energy, and devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.instruments import Instruments, display_names
from jupyter_mlgpu.record.reading import Reading
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import folded, joined, say
from jupyter_mlgpu.show.page.chart import Axis, Chart, Point, Series
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.receipts import figures_in_words, limits


@dataclass(frozen=True)
class Figure:
    """A chart of records, or None if there is nothing to draw, and its table with a row per cell."""

    title: str
    note: str
    chart: Chart | None
    table: Table


@dataclass(frozen=True)
class _Series:
    """One colour of a chart and one column of its table, with a value for each record."""

    name: str
    values: Sequence[float | None]
    shown: Sequence[str]


def charts(records: Sequence[Record]) -> list[Figure]:
    """Return the charts of a report, in reading order."""
    return [
        _of_readings(
            say("Time"),
            say("Wall time is what passed on a clock; CPU time adds up all cores of this process."),
            records,
            ("wall_time", "cpu_time", "device_time"),
            say("seconds"),
            1,
        ),
        _of_readings(
            say("Memory"),
            say("The highest use while the cell ran, what earlier cells had left there included."),
            records,
            ("peak_memory_process", "peak_memory_allocator", "peak_memory_device"),
            "MiB",
            1024**2,
        ),
        _of_readings(units.title("energy"), "", records, ("energy",), say("joules"), 1),
        _of_devices(records),
    ]


def _of_readings(
    title: str, note: str, records: Sequence[Record], quantities: Sequence[str], axis: str, scale: float
) -> Figure:
    series = [
        _Series(
            name,
            [_value(one, record, scale) for one, record in zip(readings, records, strict=True)],
            [_said(one, record) for one, record in zip(readings, records, strict=True)],
        )
        for quantity in quantities
        for name, readings in _columns(records, quantity)
    ]
    measured = [one for one in series if any(value is not None for value in one.values)]
    unmeasured = [one.name for one in series if one not in measured]
    if unmeasured and records:
        names = folded(lambda one, other: say("{one}; {other}", one=one, other=other), unmeasured)
        missing = say("Not measured: {quantities}. The receipts say why.", quantities=names)
        note = joined(note, missing) if note else missing
    return _figure(title, note, records, measured, axis, stacked=False)


def _value(reading: Reading | None, record: Record, scale: float) -> float | None:
    if reading is None or reading.value is None or figures_in_words.is_slowed(reading, record):
        return None
    return reading.value / scale


def _said(reading: Reading | None, record: Record) -> str:
    if reading is None:
        return say("not measured")
    text = (
        say("profiled, no timing") if figures_in_words.is_slowed(reading, record) else units.figure(reading)
    )
    return limits.with_kind(text, record) if reading.quantity == "wall_time" else text


def _columns(records: Sequence[Record], quantity: str) -> list[tuple[str, list[Reading | None]]]:
    """Return a quantity's readings, one per record.

    If records hold several, there is a column per instrument.
    """
    of_each = [[one for one in record.readings if one.quantity == quantity] for record in records]
    if all(len(readings) <= 1 for readings in of_each):
        return [(units.title(quantity), [readings[0] if readings else None for readings in of_each])]
    instruments = Instruments(records, quantity)
    read = [instruments.readings(record) for record in records]
    return [
        (
            say("{one}, {other}", one=units.title(quantity), other=name),
            [readings.get(instrument) for readings in read],
        )
        for instrument, name in display_names(
            dict.fromkeys(one for readings in read for one in readings)
        ).items()
    ]


def _of_devices(records: Sequence[Record]) -> Figure:
    shares = [
        {entry.device: entry.share for entry in record.device.ran_on or () if entry.share is not None}
        for record in records
    ]
    series = [
        _Series(
            device,
            [None if device not in one else one[device] * 100 for one in shares],
            [_percent(one[device]) if device in one else "" for one in shares],
        )
        for device in dict.fromkeys(device for one in shares for device in one)
    ]
    note = say("Shares of the operations that were counted, not of the time.")
    found = _figure(say("Where the work ran"), note, records, series, say("% of operations"), stacked=True)
    places = [(record.device.asked_for or say("none"), _place(record)) for record in records]
    columns = (say("Cell"), say("Requested"), say("Ran on"), *(one.name for one in series))
    rows = ((name, *place, *rest) for (name, *rest), place in zip(found.table.rows, places, strict=True))
    return replace(found, table=Table(columns, tuple(rows)))


def _place(record: Record) -> str:
    ran_on = record.device.ran_on
    if ran_on is None:
        return record.device.why_missing or say("not known")
    return ", ".join(entry.device for entry in ran_on) or say("no framework operations seen")


def _percent(share: float) -> str:
    # 99.96 % must not be rounded to all of it, nor 0.02 % to nothing.
    return "100 %" if share == 1 else f"{min(max(share, 0.001), 0.999) * 100:.1f} %"


def _figure(
    title: str, note: str, records: Sequence[Record], series: Sequence[_Series], axis: str, *, stacked: bool
) -> Figure:
    names = tuple(f"{cellnumbers.name(record)} {record.cell.name}" for record in records)
    bars = tuple(_bars(one, names, number) for number, one in enumerate(series))
    words_of = say("{title}, a bar chart of the table's figures", title=title)
    x, y = Axis(axis, zero=True), Axis("", names=names)
    return Figure(
        title,
        note,
        Chart((), x, y, bars, words_of, stacked=stacked) if bars else None,
        Table(
            (say("Cell"), *(one.name for one in series)),
            tuple((name, *(one.shown[row] for one in series)) for row, name in enumerate(names)),
        ),
    )


def _bars(one: _Series, names: Sequence[str], number: int) -> Series:
    points = (
        Point(value, row, say("{name}: {series} {figure}", name=name, series=one.name, figure=shown))
        for row, (name, value, shown) in enumerate(zip(names, one.values, one.shown, strict=True))
        if value is not None
    )
    return Series(one.name, tuple(points), number, "bar")
