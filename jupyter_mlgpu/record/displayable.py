"""Results that can be shown, and do not know how: the renderer is loaded when somebody asks for it.

It is handed to this room (`record.renderer`). It finds a result's page by the result's type.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu import record


class Displayable:
    """A result that is shown as its page: as text where it is printed, as HTML under a cell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return record.renderer().as_text(self)

    def _repr_html_(self) -> str:
        return record.renderer().as_html(self)


class Bundled(Displayable):
    """A result that our own view in JupyterLab shows; IPython asks for text and HTML by their own names."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return record.renderer().bundle_of(self)


class Pictured(Bundled):
    """A result with a picture on its page."""

    __slots__ = ()

    def picture(self) -> Any:
        """The picture, which is shown by itself; its `svg` is the drawing as text."""
        return record.renderer().picture_of(self)


class Charted(Bundled):
    """A result with charts beside its page; the first one is what it is about."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return record.renderer().as_html(self, charted=True)

    def figure(self) -> Any:
        """The chart as a plotly figure."""
        return self._figure(0)

    def svg(self) -> str:
        """The chart as SVG on white, to be read on any page."""
        return record.renderer().chart_of(self)

    def _figure(self, number: int) -> Any:
        return record.renderer().figure_of(self, number)
