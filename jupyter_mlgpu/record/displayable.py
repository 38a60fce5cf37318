"""Base classes of results that a notebook can display. The renderer is loaded only when it is needed.

The renderer is set from outside (`record.renderer`) and finds a result's page by the result's type.
"""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu import record


class Displayable:
    """A result that is displayed as its page: text when printed, HTML under a cell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return record.renderer().as_text(self)

    def _repr_html_(self) -> str:
        return record.renderer().as_html(self)


class Bundled(Displayable):
    """A result that the package's own view in JupyterLab can display.

    IPython asks for text and HTML through their own methods.
    """

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        return record.renderer().bundle_of(self)


class Pictured(Bundled):
    """A result with a picture on its page."""

    __slots__ = ()

    def picture(self) -> Any:
        """Return the picture, which a notebook can display. Its `svg` is the drawing as text."""
        return record.renderer().picture_of(self)


class Charted(Bundled):
    """A result with charts beside its page. The first chart is the main one."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return record.renderer().as_html(self, charted=True)

    def figure(self) -> Any:
        """Return the first chart as a plotly figure."""
        return self._figure(0)

    def svg(self) -> str:
        """Return the first chart as SVG on a white background, readable on any page."""
        return record.renderer().chart_of(self)

    def _figure(self, number: int) -> Any:
        return record.renderer().figure_of(self, number)
