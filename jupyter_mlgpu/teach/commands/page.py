"""The class report as text, and as an HTML page without network access or scripts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from jupyter_mlgpu.explain.statistics import median
from jupyter_mlgpu.jupyter.cli.progress import printable
from jupyter_mlgpu.record import units
from jupyter_mlgpu.show.markup import bullets, document, element, joined
from jupyter_mlgpu.show.page.html import table
from jupyter_mlgpu.show.page.model import Table
from jupyter_mlgpu.show.page.text import aligned
from jupyter_mlgpu.show.receipts import notes
from jupyter_mlgpu.teach.commands import report as class_report
from jupyter_mlgpu.teach.commands.report import Entry

#: Most log messages and sentences of a list that are shown; the rest is counted.
_MOST = 30

_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top; }
"""

Section = tuple[str, tuple[str, ...], list[tuple[str, ...]]]


def sections(entries: Sequence[Entry]) -> list[Section]:
    """Return the report's tables: title, column names (none for a list of sentences), and rows."""
    students = {entry.student for entry in entries}
    broken = [entry for entry in entries if entry.why]
    empty = class_report.without_records(entries)
    head = [
        f"{len(students):,} student{'s' if len(students) != 1 else ''}, "
        f"{len(entries):,} notebook{'s' if len(entries) != 1 else ''}",
        f"{len(entries) - len(broken) - len(empty):,} with records, {len(empty):,} without, "
        f"{len(broken):,} that cannot be read",
        class_report.devices_line(entries),
    ]
    return [
        ("Class", (), [(line,) for line in head]),
        (
            "Notebooks",
            ("student", "lab", "points", "records", "total time", "failed", "devices"),
            _notebooks(entries),
        ),
        ("Cannot be read", (), [(f"{one.student}, {one.lab}: {one.why}",) for one in broken]),
        ("Without records", (), [(f"{one.student}, {one.lab}",) for one in empty]),
        ("Worth a look", (), _short([(one,) for one in class_report.worth_a_look(entries)])),
        ("Devices", ("device", "students", "who"), _devices(entries)),
        ("Times", ("lab", "cell", "students", "shortest", "median", "longest"), _times(entries)),
        ("Log notes", ("verdict", "students", "meaning"), _notes(entries)),
    ]


def text(entries: Sequence[Entry], place: Path) -> str:
    """Return the report as plain text. Paths are relative to the folder `place`."""
    lines = []
    for title, header, rows in sections(entries):
        if rows:
            cells = [[printable(cell, 300) for cell in row] for row in ([header, *rows] if header else rows)]
            lines += ["", title, *(f"  {line}" for line in aligned(cells))]
    pages = _feedback(entries, place)
    if pages:
        lines += ["", "Feedback", *(f"  {printable(path, 300)}" for _, path in pages)]
    return "\n".join(lines).lstrip("\n") + "\n"


def html(entries: Sequence[Entry], place: Path, *, title: str) -> str:
    """Return the report as an HTML page in the folder `place`; text written by students is escaped."""
    parts = []
    for name, header, rows in sections(entries):
        if rows:
            body = table(Table(header, tuple(rows))) if header else bullets(row[0] for row in rows)
            parts.append(joined(element("h2", name), "\n", body, "\n"))
    links = [element("a", name, href=f"./{quote(path)}") for name, path in _feedback(entries, place)]
    if links:
        parts.append(joined(element("h2", "Feedback"), "\n", bullets(links), "\n"))
    return document(
        f"{title}: class report",
        _STYLE,
        element("h1", f"{title}: class report"),
        "\n",
        *parts,
        policy="default-src 'none'; style-src 'unsafe-inline'",
    )


def _feedback(entries: Sequence[Entry], place: Path) -> list[tuple[str, str]]:
    """Return a name and a relative path for each page of feedback."""
    return [
        (f"{one.student}, {one.lab}", os.path.relpath(one.feedback, place))
        for one in entries
        if one.feedback is not None
    ]


def _devices(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    who: dict[str, list[str]] = {}
    for entry in entries:
        for device in class_report.devices(entry):
            if entry.student not in who.setdefault(device, []):
                who[device].append(entry.student)
    return [(device, f"{len(names):,}", ", ".join(names)) for device, names in sorted(who.items())]


def _times(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    rows = []
    for one in class_report.times(entries):
        values = list(one.seconds.values())
        spread = (units.seconds(each) for each in (min(values), median(values), max(values)))
        rows.append((one.lab, one.cell, f"{len(values):,}", *spread))
    return rows


def _notes(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    found = class_report.common_notes(entries)
    return _short(
        [(notes.VERDICTS.get(verdict, verdict), f"{count:,}", meaning) for verdict, meaning, count in found]
    )


def _notebooks(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for entry in entries:
        records = entry.records
        light = [one for one in records if one.mode == "light"]
        walls = [
            each.value
            for one in light
            for each in one.readings
            if each.quantity == "wall_time" and each.value
        ]
        outcomes = Counter(one.outcome for one in records)
        rows.append(
            (
                entry.student,
                entry.lab,
                entry.points or "not graded",
                "cannot be read" if entry.why else f"{len(records):,}",
                units.seconds(sum(walls)) if walls else "not measured",
                f"{outcomes['error']:,}" if records else "",
                ", ".join(class_report.devices(entry)) or "none seen",
            )
        )
    return rows


def _short(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if len(rows) <= _MOST:
        return rows
    return [*rows[:_MOST], (*[""] * (len(rows[0]) - 1), f"and {len(rows) - _MOST:,} more")]
