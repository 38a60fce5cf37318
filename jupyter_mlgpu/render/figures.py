"""Records as plotly figures, each with the table that says the same: time, memory, and where the work ran.

Names of cells come from strangers' notebooks, and plotly reads a small HTML in its texts: what is
handed to it is escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.markup import plotly_text
from jupyter_mlgpu.record import Reading, Record
from jupyter_mlgpu.render import words

# Told apart by readers who see fewer colours (after Okabe and Ito), on white and on black.
COLOURS = ("#3a87c8", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999")


@dataclass(frozen=True)
class Chart:
    """A figure as plotly's JSON (None where there is nothing to draw), and its table.

    Header and rows are text, not HTML; the first column names the cell.
    """

    title: str
    note: str
    figure: str | None
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class _Series:
    """One colour of a chart and one column of its table, with a value for each record."""

    name: str
    values: Sequence[float | None]
    shown: Sequence[str]


def charts(records: Sequence[Record]) -> list[Chart]:
    """The charts of a report, in reading order."""
    return [
        _of_readings(
            "Time",
            "Wall time is what passed on a clock; CPU time adds up all cores of this process.",
            records,
            ("wall_time", "cpu_time", "device_time"),
            "seconds",
            1,
        ),
        _of_readings(
            "Memory",
            "The highest use while the cell ran, what earlier cells had left there included.",
            records,
            ("peak_memory_process", "peak_memory_allocator", "peak_memory_device"),
            "MiB",
            1024**2,
        ),
        _of_readings("Energy", "", records, ("energy",), "joules", 1),
        _of_devices(records),
    ]


def label(record: Record) -> str:
    """How a report calls a record: the notebook's own number of the cell where it is known."""
    count = record.cell.execution_count
    return f"#{record.cell.sequence}" if count is None else f"[{count}]"


def _of_readings(
    title: str, note: str, records: Sequence[Record], quantities: Sequence[str], axis: str, scale: float
) -> Chart:
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
        note = f"{note} Not measured: {'; '.join(unmeasured)}. The receipts say why.".strip()
    return _chart(title, note, records, measured, axis, "group")


def _value(reading: Reading | None, record: Record, scale: float) -> float | None:
    if reading is None or reading.value is None or words.slowed(reading, record):
        return None
    return reading.value / scale


def _said(reading: Reading | None, record: Record) -> str:
    if reading is None:
        return "not measured"
    return "profiled, no timing" if words.slowed(reading, record) else words.figure(reading)


def _columns(records: Sequence[Record], quantity: str) -> list[tuple[str, list[Reading | None]]]:
    """A quantity's readings, one of each record; where records hold several, a column a source."""
    of_each = [[one for one in record.readings if one.quantity == quantity] for record in records]
    if all(len(readings) <= 1 for readings in of_each):
        return [(words.title(quantity), [readings[0] if readings else None for readings in of_each])]
    sources = dict.fromkeys(
        one.instrument for readings in of_each for one in readings if one.value is not None
    )
    return [
        (
            f"{words.title(quantity)}, {source}",
            [next((one for one in readings if one.instrument == source), None) for readings in of_each],
        )
        for source in sources
    ]


def _of_devices(records: Sequence[Record]) -> Chart:
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
    note = "Shares of the operations that were counted, not of the time."
    chart = _chart("Where the work ran", note, records, series, "% of operations", "stack")
    places = [(record.device.asked_for or "none", _place(record)) for record in records]
    return Chart(
        chart.title,
        chart.note,
        chart.figure,
        ("Cell", "Asked for", "Ran on", *(one.name for one in series)),
        tuple((name, *place, *rest) for (name, *rest), place in zip(chart.rows, places, strict=True)),
    )


def _place(record: Record) -> str:
    ran_on = record.device.ran_on
    if ran_on is None:
        return record.device.why_missing or "not known"
    return ", ".join(entry.device for entry in ran_on) or "no operations seen on a device"


def _percent(share: float) -> str:
    # 99.96 % must not read as all of it, nor 0.02 % as nothing.
    return "100 %" if share == 1 else f"{min(max(share, 0.001), 0.999) * 100:.1f} %"


def _chart(
    title: str, note: str, records: Sequence[Record], series: Sequence[_Series], axis: str, mode: str
) -> Chart:
    names = [f"{label(record)} {record.cell.name}" for record in records]
    return Chart(
        title,
        note,
        _figure(names, series, axis, mode) if series else None,
        ("Cell", *(one.name for one in series)),
        tuple((name, *(one.shown[row] for one in series)) for row, name in enumerate(names)),
    )


def _figure(names: Sequence[str], series: Sequence[_Series], axis: str, mode: str) -> str:
    from plotly import graph_objects as go

    rows = list(range(len(names)))
    bars = [
        go.Bar(
            orientation="h",
            name=plotly_text(one.name),
            y=rows,
            x=list(one.values),
            marker={"color": COLOURS[number % len(COLOURS)]},
            customdata=[
                plotly_text(f"{name}: {one.name} {shown}")
                for name, shown in zip(names, one.shown, strict=True)
            ],
            hovertemplate="%{customdata}<extra></extra>",
        )
        for number, one in enumerate(series)
    ]
    thickness = 14 * len(series) + 10 if mode == "group" else 26
    layout: dict[str, Any] = {
        "template": "none",
        "barmode": mode,
        "bargap": 0.25,
        "height": 90 + thickness * len(names),
        "margin": {"l": 8, "r": 24, "t": 34, "b": 48},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "yref": "container",
            "y": 1,
            "yanchor": "top",
            "x": 0,
            "traceorder": "normal",
        },
        "xaxis": {
            "title": {"text": axis, "standoff": 8},
            "rangemode": "tozero",
            "fixedrange": True,
            "automargin": True,
        },
        # The rows are numbers, for two cells may have the same text.
        "yaxis": {
            "tickvals": rows,
            "ticktext": [plotly_text(_short(name)) for name in names],
            "range": [len(names) - 0.5, -0.5],
            "fixedrange": True,
            "automargin": True,
            "showgrid": False,
            "zeroline": False,
        },
    }
    figure: str = go.Figure(bars, layout).to_json()
    return figure


def _short(name: str, limit: int = 28) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"
