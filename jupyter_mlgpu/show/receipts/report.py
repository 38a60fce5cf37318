"""Renders all records of a run as one self-contained HTML page, without network or other files.

Its charts are images, and its content security policy forbids all scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record import cellnumbers, units
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.markup import Markup, document, element, image, joined
from jupyter_mlgpu.show.page import svg
from jupyter_mlgpu.show.page.html import table as html_table
from jupyter_mlgpu.show.receipts import figures, html, notes, page

# Screen readers and printers use the tables. The charts draw the same figures.
_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def report(records: Sequence[Record], *, title: str, notices: Sequence[str] = ()) -> str:
    """Return the page. `notices` are sentences for its top about missing content and the reasons."""
    charts = [one for one in figures.charts(records) if one.chart or one.title != "Energy"]
    return document(
        f"{title}: receipts",
        _STYLE,
        element(
            "main",
            "\n",
            element("h1", title),
            "\n",
            *_head(records),
            *(_line(element("p", notice, class_="notice")) for notice in notices),
            *_sections(charts),
            _line(element("h2", "Receipts")),
            *map(_receipt, records),
        ),
        policy=_POLICY,
        wide=True,
    )


def _line(made: Markup) -> Markup:
    return joined(made, "\n")


def _head(records: Sequence[Record]) -> list[Markup]:
    if not records:
        return [_line(element("p", "No cell left a record."))]
    walls = [record.reading("wall_time").value for record in records if record.mode == "light"]
    total = sum(wall for wall in walls if wall is not None)
    failed = sum(record.outcome == "error" for record in records)
    act = sum(notes.to_act_on(line) for record in records for line in record.logs)
    places = dict.fromkeys(
        f"{entry.device} ({registry.title(entry.framework)})"
        for record in records
        for entry in record.device.ran_on or ()
    )
    facts = [
        f"{len(records):,} cell{'s' if len(records) != 1 else ''} measured",
        f"{units.seconds(total)} in them",
        *([f"{failed:,} ended with an error"] if failed else []),
        *([f"{act:,} message{'s' if act != 1 else ''} to act on"] if act else []),
        f"ran on {', '.join(places)}" if places else "no framework operations seen",
    ]
    versions = {name: version for record in records for name, version in record.versions.items()}
    background = [
        f"Began {records[0].started_at[:19].replace('T', ' ')} UTC",
        *(f"{registry.title(name)} {versions[name]}" for name in versions),
    ]
    return [
        _line(element("p", " · ".join(facts))),
        _line(element("p", " · ".join(background), class_="soft")),
    ]


def _sections(charts: Sequence[figures.Figure]) -> list[Markup]:
    sections = []
    for one in charts:
        picture = None
        if one.chart is not None:
            picture = element("div", image(svg.draw(one.chart, dark=True), one.chart.words))
        if one.table.rows:
            pair = element("div", picture, element("div", html_table(one.table)), class_="pair")
            title, note = element("h2", one.title), element("p", one.note, class_="soft")
            lines = joined(title, note, pair, between="\n")
            sections.append(_line(element("section", "\n", lines, "\n")))
    return sections


def _receipt(record: Record) -> Markup:
    name = element("h3", f"{cellnumbers.name(record)} {record.cell.name}")
    return _line(element("article", name, html.render(record, page.of(record)), class_=record.outcome))
