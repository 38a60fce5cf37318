"""All records of a run as one HTML page that needs nothing else: no network, no other file.

The page's scripts are plotly.js, the figures' data and the lines below; its content security policy
names their digests, so that the browser runs no other script, wherever it might come from.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render import figures, html, notes, words

# Text that is read aloud or printed comes from the tables; the charts draw the same figures.
_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --line: #d1d9e0; --page: #ffffff;
  --card: #f6f8fa; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --soft: #9ba6b2; --line: #3d444d;
  --page: #0d1117; --card: #151b23; --bad: #ff8a80; } }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 76rem; margin: 0 auto; padding: 1.5rem; }
h1 { margin: 0; font-size: 1.6rem; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .25rem; font-size: 1.2rem; }
p { margin: .25rem 0; }
.soft { color: var(--soft); }
.notice { border-left: 4px solid var(--bad); padding: .25rem .75rem; margin: .75rem 0; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28rem), 1fr)); gap: 1rem;
  align-items: start; }
.pair > div { overflow: auto; max-height: 36rem; }
table { border-collapse: collapse; font-size: .87rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .2rem .75rem .2rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
.pair td:first-child { font-family: ui-monospace, monospace; overflow-wrap: anywhere; min-width: 9rem; }
.figure { white-space: nowrap; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  padding: .6rem .9rem; margin: .6rem 0; }
article h3 { margin: 0; font: 600 .95rem ui-monospace, monospace; overflow-wrap: anywhere; }
article.error, article.interrupted { border-color: var(--bad); }
details details, details table { margin: .4rem 0; }
summary { cursor: pointer; }
"""

_SCRIPT = """
const figures = JSON.parse(document.getElementById("figures").textContent);
const charts = figures.map((figure, number) => [document.getElementById("chart-" + number), figure]);
function colours() {
  const style = getComputedStyle(document.documentElement);
  const [text, line, card] = ["--text", "--line", "--card"].map((name) => style.getPropertyValue(name));
  return {
    "font.color": text, "xaxis.gridcolor": line, "xaxis.zerolinecolor": line,
    "hoverlabel.bgcolor": card, "hoverlabel.bordercolor": line, "hoverlabel.font.color": text
  };
}
const settings = { responsive: true, displayModeBar: false };
for (const [place, figure] of charts) {
  Plotly.newPlot(place, figure.data, figure.layout, settings)
    .then(() => Plotly.relayout(place, colours()));
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const [place] of charts) Plotly.relayout(place, colours());
});
"""


def report(records: Sequence[Record], *, title: str, notices: Sequence[str] = ()) -> str:
    """The page. `notices` are sentences for its top, about what is missing from it and why."""
    from plotly.offline import get_plotlyjs

    charts = [chart for chart in figures.charts(records) if chart.figure or chart.title != "Energy"]
    drawn = [chart.figure for chart in charts if chart.figure is not None]
    scripts = [get_plotlyjs(), _SCRIPT] if drawn else []
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; "
        f"script-src {' '.join(map(_digest, scripts)) or chr(39) + 'none' + chr(39)}"
    )
    # Inside a script element, `<` is the one character that could end it.
    data = f"[{','.join(drawn)}]".replace("<", "\\u003c")
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            f"<title>{escape(title)}: receipts</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n",
            f"<h1>{escape(title)}</h1>\n{_head(records)}",
            *(f'<p class="notice">{escape(notice)}</p>\n' for notice in notices),
            *_sections(charts),
            "<h2>Receipts</h2>\n",
            *map(_receipt, records),
            "</main>\n",
            f'<script type="application/json" id="figures">{data}</script>\n' if drawn else "",
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def _head(records: Sequence[Record]) -> str:
    if not records:
        return "<p>No cell left a record.</p>\n"
    walls = [record.reading("wall_time").value for record in records if record.mode == "light"]
    total = sum(wall for wall in walls if wall is not None)
    failed = sum(record.outcome == "error" for record in records)
    act = sum(notes.to_act_on(line) for record in records for line in record.logs)
    places = dict.fromkeys(
        f"{entry.device} ({words.framework(entry.framework)})"
        for record in records
        for entry in record.device.ran_on or ()
    )
    facts = [
        f"{len(records):,} cell{'s' if len(records) != 1 else ''} measured",
        f"{words.seconds(total)} in them",
        *([f"{failed:,} ended with an error"] if failed else []),
        *([f"{act:,} log note{'s' if act != 1 else ''} to act on"] if act else []),
        f"ran on {', '.join(places)}" if places else "no operations seen on a device",
    ]
    versions = {name: version for record in records for name, version in record.versions.items()}
    background = [
        f"Began {records[0].started_at[:19].replace('T', ' ')} UTC",
        *(f"{name} {versions[name]}" for name in versions),
    ]
    return f'<p>{escape(" · ".join(facts))}</p>\n<p class="soft">{escape(" · ".join(background))}</p>\n'


def _sections(charts: Sequence[figures.Chart]) -> list[str]:
    sections = []
    drawn = 0
    for chart in charts:
        picture = ""
        if chart.figure is not None:
            name = escape(f"{chart.title}, a bar chart of the table's figures")
            picture = f'<div><div id="chart-{drawn}" role="img" aria-label="{name}"></div></div>'
            drawn += 1
        if chart.rows:
            sections.append(
                f'<section>\n<h2>{escape(chart.title)}</h2>\n<p class="soft">{escape(chart.note)}</p>\n'
                f'<div class="pair">{picture}<div>{_table(chart)}</div></div>\n</section>\n'
            )
    return sections


def _table(chart: figures.Chart) -> str:
    head = "".join(f"<th>{escape(text)}</th>" for text in chart.header)
    rows = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in chart.rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _cell(text: str) -> str:
    # A figure stays on one line with its unit.
    kind = ' class="figure"' if text[:1].isdigit() else ""
    return f"<td{kind}>{escape(text)}</td>"


def _receipt(record: Record) -> str:
    name = escape(f"{figures.label(record)} {record.cell.name}")
    return f'<article class="{record.outcome}"><h3>{name}</h3>{html.receipt(record)}</article>\n'


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
