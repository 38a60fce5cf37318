"""What was measured, as data: records, their files and their store, units, errors, sentences, redaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # the program needs none of it, and it is loaded with the package

    class Renderer(Protocol):
        """Draws results of this room and later ones; `show/renderer.py` is one."""

        def as_text(self, result: object) -> str:
            """The result's page as plain text."""

        def as_html(self, result: object, *, charted: bool = False) -> str:
            """The result's page as HTML, with its charts in it where they are asked for."""

        def bundle_of(self, result: object) -> dict[str, Any]:
            """The result's page for our own view in JupyterLab, under its MIME type."""

        def picture_of(self, result: object) -> Any:
            """The first picture of the result's page, or its first chart."""

        def chart_of(self, result: object) -> str:
            """The first chart beside the result's page, as SVG."""

        def figure_of(self, result: object, number: int) -> Any:
            """A chart beside the result's page, as a plotly figure."""

        def graph_summary(self, graph: Any) -> str:
            """The layers of a graph of ML Compute as a table."""

        def graph_picture(self, graph: Any) -> Any:
            """A graph of ML Compute as a drawing, which a notebook shows by itself."""

        def tensor_history(self, tensor: Any) -> str:
            """How a tensor of ML Compute came to be."""

        def save_trace(self, collection: Any, path: str | os.PathLike[str]) -> int:
            """Write what engines sent as a trace; returns how many events it holds."""


#: Loads the renderer, which no result of this room or the next ones knows. Set by `pipeline.connect`.
renderer: Callable[[], Renderer]
