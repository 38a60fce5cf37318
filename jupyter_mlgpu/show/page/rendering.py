"""Finds the page of a result and renders it in the formats that IPython asks for.

A result does not know its page. The page is found by the result's type: a module registers with
`page_of.register`. For a result of `experiment/race/` that module is `show/race/page.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch
from importlib import import_module
from typing import Any

from jupyter_mlgpu.record import decoding
from jupyter_mlgpu.record.displayable import Displayable
from jupyter_mlgpu.record.extras import require
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.show.page import html, plotly, svg, text, view
from jupyter_mlgpu.show.page.chart import Chart
from jupyter_mlgpu.show.page.model import Page, Picture


@singledispatch
def page_of(result: object) -> Page:
    """Return the page of a result. Raises TypeError if no module makes a page of its type."""
    kind = type(result)
    import_module(f"jupyter_mlgpu.show.{kind.__module__.split('.')[-2]}.page")
    if page_of.dispatch(kind) is page_of.dispatch(object):
        raise TypeError(f"No module makes a page of {kind.__name__}.")
    return page_of(result)


def bundle_of(result: object) -> dict[str, Any]:
    """Return a result's page for the package's own view in JupyterLab, under its MIME type."""
    return {view.MIME_TYPE: decoding.to_json(view.data(page_of(result)), texts=False)}


def as_text(result: object) -> str:
    """Return a result's page as plain text."""
    return text.page(page_of(result))


def as_html(result: object, *, charted: bool = False) -> str:
    """Return a result's page as HTML, with its charts if `charted` is true."""
    return str(html.page(page_of(result), charted=charted))


def picture_of(result: object) -> Drawing:
    """Return the first picture of a result's page, or its first chart if there is none."""
    page = page_of(result)
    for part in page.parts:
        if isinstance(part, Picture):
            return Drawing(part.drawing, part.words)
    chart = page.charts[0]
    return Drawing(svg.draw(chart), chart.words)


def chart_of(result: object) -> str:
    """Return the first chart of a result as SVG under the page's headline."""
    page = page_of(result)
    chart = page.charts[0]
    return f"{svg.draw(replace(chart, title=_titled(page, chart)))}\n"


def figure_of(result: object, number: int) -> Any:
    """Return a chart of a result as a plotly figure under the page's headline."""
    require(say("A figure"), "lab", "plotly")
    from plotly import graph_objects as go

    page = page_of(result)
    chart = page.charts[number]
    return go.Figure(plotly.figure(chart, title=_titled(page, chart)))


def _titled(page: Page, chart: Chart) -> tuple[str, ...]:
    return tuple(one for one in (page.headline, *chart.title) if one)


@dataclass(frozen=True, repr=False)
class Drawing(Displayable, Picture):
    """A picture that is a result by itself."""

    @property
    def svg(self) -> str:
        """The drawing as text."""
        return str(self.drawing)


@page_of.register
def _alone(shown: Drawing) -> Page:
    return Page((shown,))
