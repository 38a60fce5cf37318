"""What was measured, as data: records, their files and their store, units, errors, sentences, redaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the program needs none of it, and it is loaded with the package

    class Renderer(Protocol):
        """Draws results; `show/page/shown.py` is one."""

        def as_text(self, result: object) -> str:
            """The result's page as plain text."""

        def as_html(self, result: object, *, charted: bool = False) -> str:
            """The result's page as HTML, with its charts in it where they are asked for."""

        def bundle_of(self, result: object) -> dict[str, Any]:
            """The result's page for our own view in JupyterLab, under its MIME type."""

        def picture_of(self, result: object) -> Any:
            """The first picture of the result's page."""

        def chart_of(self, result: object) -> str:
            """The first chart beside the result's page, as SVG."""

        def figure_of(self, result: object, number: int) -> Any:
            """A chart beside the result's page, as a plotly figure."""


#: Loads the renderer, which no result of this room or the next ones knows. Set by `pipeline.connect`.
renderer: Callable[[], Renderer]
