"""Draws charts as SVG on white. They need no JavaScript and no library, and are small."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jupyter_mlgpu.record.redact import shorten
from jupyter_mlgpu.show.markup import Markup, element, joined, style
from jupyter_mlgpu.show.page import axes
from jupyter_mlgpu.show.page.chart import NEUTRAL, Chart, Point, Series
from jupyter_mlgpu.show.page.scales import Scale

#: CSS of texts and lines in every drawing. A drawing adds its own.
STYLE = """
text { font: 12px sans-serif; fill: #1f2328; text-anchor: middle; }
.left { text-anchor: start; } .right { text-anchor: end; } .bold { font-weight: bold; }
.small { font-size: 10px; fill: #59636e; } .grid { stroke: #d1d9e0; fill: none; }
.rule { stroke: #1f2328; stroke-dasharray: 6 4; fill: none; }
"""

#: CSS for a page that follows the reader's system. An image cannot know JupyterLab's colours in a notebook.
_ON_DARK = """
@media (prefers-color-scheme: dark) { text { fill: #e6edf3; } .small { fill: #9ba6b2; }
.grid { stroke: #3d444d; } .rule { stroke: #e6edf3; }
rect[rx] { fill: #151b23 !important; stroke: #3d444d !important; } }
"""

# In points of the drawing: its width, the left axis beside numbers or beside names, the right end, the height
# of the plot, and the height of a row with a name.
_WIDTH, _NUMBERS, _NAMES, _RIGHT, _HIGH, _THICK = 720, 84, 180, 690, 290, 26
_MARGIN, _ROW, _BELOW = 16, 18, 50
#: The approximate width of a character, in points.
LETTER = 7.0
#: Most points of a line that are marked individually.
_MARKED = 48


def frame(words: str, width: float, height: float, *parts: Markup, css: str = "") -> Markup:
    """Return a drawing on white of `width` and `height` points. `words` is its text alternative."""
    wide, high = f"{width:g}", f"{height:g}"
    return element(
        "svg",
        element("title", words),
        style(STYLE + css),
        element("rect", width=wide, height=high, rx=6, style="fill:#ffffff;stroke:#d1d9e0"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        width=wide,
        height=high,
        viewBox=f"0 0 {wide} {high}",
        role="img",
    )


def text(x: float, y: float, content: str, kind: str | None = None, *, most: int = 112) -> Markup:
    """Return a text of at most `most` characters. `kind` is a class of `STYLE`."""
    return element("text", shorten(content, most), class_=kind, x=f"{x:.1f}", y=f"{y:.1f}")


def path(points: Iterable[tuple[float, float]], **look: str | None) -> Markup:
    """Return straight lines from point to point."""
    return element("path", d=f"M{'L'.join(f'{x:.1f} {y:.1f}' for x, y in points)}", **look)


def draw(chart: Chart, *, dark: bool = False) -> Markup:
    """Return the chart under its title and legend.

    With `dark` it is light on dark if the reader's system is dark.
    """
    title = [
        text(_MARGIN, 22 + 17 * row, line, "left" if row else "left bold")
        for row, line in enumerate(chart.title)
    ]
    legend, top = _legend(chart.series, 10 + 17 * len(chart.title))
    top += 2 * _ROW
    left = _NAMES if chart.lies else _NUMBERS
    bottom = top + (_THICK * len(chart.y.names) if chart.lies else _HIGH)
    body: list[Markup] = []
    if any(one.points for one in chart.series):
        across = axes.scale(chart, chart.x, left, _RIGHT)
        up = axes.scale(chart, chart.y, bottom, top)
        drawing = _Drawing(chart, across, up)
        body = [*drawing.grid(), *drawing.bars(), *drawing.marks(), *drawing.rules()]
    css = _ON_DARK if dark else ""
    return frame(chart.words, _WIDTH, bottom + _BELOW, *title, *legend, *body, css=css)


def _legend(series: Sequence[Series], top: float) -> tuple[list[Markup], float]:
    """Return the names with their marks, as many per row as fit, and the position of the last row."""
    parts, left, down = [], float(_MARGIN), top
    for one in (one for one in series if one.name):
        wide = 40 + LETTER * len(one.name)
        if down == top or left + wide > _WIDTH - _MARGIN:
            left, down = float(_MARGIN), down + _ROW
        if one.mark in ("points", "bar", "span"):
            parts.append(_dot(left + 13, down, one))
        else:
            parts.append(path([(left, down), (left + 26, down)], **_look(one)))
        parts.append(text(left + 32, down + 4, one.name, "left"))
        left += wide + 8
    return parts, down


class _Drawing:
    """Draws the parts of a chart between its axes."""

    def __init__(self, chart: Chart, across: Scale, up: Scale) -> None:
        self.chart, self.across, self.up = chart, across, up
        self.left, self.bottom, self.top = across.start, up.start, up.end

    def grid(self) -> list[Markup]:
        parts = [text((self.left + _RIGHT) / 2, self.bottom + 38, self.chart.x.title)]
        for value, name in axes.ticks(self.chart.x, self.across):
            place = self.across.place(value)
            if not self.chart.x.names:
                parts.append(path([(place, self.top), (place, self.bottom)], class_="grid"))
            parts.append(text(place, self.bottom + 18, name))
        parts.append(text(_MARGIN, self.top - 12, self.chart.y.title, "left"))
        for value, name in axes.ticks(self.chart.y, self.up):
            place = self.up.place(value)
            if not self.chart.y.names:
                parts.append(path([(self.left, place), (_RIGHT, place)], class_="grid"))
            parts.append(text(self.left - 8, place + 4, name, "right", most=26 if self.chart.lies else 12))
        return parts

    def bars(self) -> list[Markup]:
        parts = []
        for one in axes.bars(self.chart):
            corners = (
                self._at(one.place - one.thick / 2, one.start),
                self._at(one.place + one.thick / 2, one.end),
            )
            (left, right), (top, bottom) = map(sorted, zip(*corners, strict=True))
            size = {"width": f"{right - left:.1f}", "height": f"{bottom - top:.1f}"}
            parts.append(element("rect", x=f"{left:.1f}", y=f"{top:.1f}", fill=one.series.hue, **size))
        return parts

    def _at(self, place: float, value: float) -> tuple[float, float]:
        """Return the point of the drawing for a value at a place of the other axis."""
        x, y = (value, place) if self.chart.lies else (place, value)
        return self.across.place(x), self.up.place(y)

    def rules(self) -> list[Markup]:
        parts = []
        for row, one in enumerate(self.chart.rules):
            across = self.across.place(one.at)
            if one.low is not None and one.high is not None:
                low, high = sorted(map(self.across.place, (one.low, one.high)))
                size = {"width": f"{high - low:.1f}", "height": f"{self.bottom - self.top:.1f}"}
                parts.append(
                    element("rect", fill=NEUTRAL, opacity="0.12", x=f"{low:.1f}", y=f"{self.top:.1f}", **size)
                )
            side, shift = ("left", 6) if across < (self.left + _RIGHT) / 2 else ("right", -6)
            parts.append(path([(across, self.top), (across, self.bottom)], class_="rule"))
            parts.append(text(across + shift, self.top + 12 + 15 * row, one.label, side))
        return parts

    def marks(self) -> list[Markup]:
        return [part for one in self.chart.series for part in self._series(one)]

    def _series(self, one: Series) -> list[Markup]:
        points = [point for point in one.points if axes.has_place(self.chart, point)]
        places = [(self.across.place(point.x), self.up.place(point.y)) for point in points]
        if one.mark == "bar":
            return [self._spread(point, "#1f2328") for point in points]
        if one.mark == "span":
            return []
        parts = []
        if one.mark != "points" and len(places) > 1:
            parts.append(path(places, **_look(one)))
        if one.mark == "points" or _is_marked(one):
            parts += [self._spread(point, one.hue) for point in points]
            parts += [_dot(x, y, one) for x, y in places]
        return parts

    def _spread(self, point: Point, colour: str) -> Markup:
        """Return a line from the low to the high end of a point, with a stroke at each end."""
        ends = axes.spread(self.chart, point)
        if not ends:
            return joined()
        place = point.y if self.chart.lies else point.x
        low, high = ("{:.1f} {:.1f}".format(*self._at(place, one)) for one in ends)
        stroke = "m0 -4v8" if self.chart.lies else "m-4 0h8"
        line = f"M{low}L{high}M{low}{stroke}M{high}{stroke}"
        return element("path", d=line, fill="none", stroke=colour)


def _is_marked(one: Series) -> bool:
    """Return True if a line has a mark at each of its points."""
    return one.mark == "line" and len(one.points) <= _MARKED


def _dot(x: float, y: float, one: Series) -> Markup:
    # Hollow if dashed: otherwise a single point would look like one that was measured here.
    look = {"fill": "#ffffff", "stroke": one.hue, "stroke_width": "1.5"} if one.dashed else {"fill": one.hue}
    return element("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="3.5", **look)


def _look(one: Series) -> dict[str, str | None]:
    return {
        "stroke": one.hue,
        "stroke_width": "1.2" if one.mark == "roof" else "2",
        "fill": "none",
        "stroke_dasharray": "7 4" if one.dashed else None,
    }
