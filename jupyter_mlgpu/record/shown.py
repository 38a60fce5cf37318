"""Results that can be shown, and do not know how: what draws them is loaded when somebody asks for it.

`show/page/shown.py` finds a result's page by its type, and renders it. This is the one door to `show`
from the rooms above it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def shower(name: str) -> Any:
    """A module of `show` that draws or writes a result, for example `page.shown`."""
    return import_module(f"jupyter_mlgpu.show.{name}")


def _pages() -> Any:
    return shower("page.shown")


class Shown:
    """A result that is shown as its page: as text where it is printed, as HTML under a cell."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(_pages().as_text(self))

    def _repr_html_(self) -> str:
        return str(_pages().as_html(self))


class Bundled(Shown):
    """A result that our own view in JupyterLab shows; IPython asks for text and HTML by their own names."""

    __slots__ = ()

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        made: dict[str, Any] = _pages().bundle_of(self)
        return made


class Pictured(Bundled):
    """A result with a picture on its page."""

    __slots__ = ()

    def picture(self) -> Any:
        """The picture, which is shown by itself; its `svg` is the drawing as text."""
        return _pages().picture_of(self)


class Charted(Bundled):
    """A result with charts beside its page; the first one is what it is about."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(_pages().as_html(self, charted=True))

    def figure(self) -> Any:
        """The chart as a plotly figure."""
        return self._figure(0)

    def svg(self) -> str:
        """The chart as SVG on white, to be read on any page."""
        return str(_pages().chart_of(self))

    def _figure(self, number: int) -> Any:
        return _pages().figure_of(self, number)
