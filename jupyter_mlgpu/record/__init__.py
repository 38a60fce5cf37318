"""Records as data: the measurements, their files and store, units, errors, sentences and redaction."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # not needed at run time, and this module is always loaded with the package

    class Renderer(Protocol):
        """A renderer of results. `show/renderer.py` is the implementation."""

        def as_text(self, result: object) -> str:
            """Return the result's page as plain text."""

        def as_html(self, result: object, *, charted: bool = False) -> str:
            """Return the result's page as HTML, with its charts if `charted` is true."""

        def bundle_of(self, result: object) -> dict[str, Any]:
            """Return the result's page for the package's own view in JupyterLab, under its MIME type."""

        def picture_of(self, result: object) -> Any:
            """Return the first picture of the result's page, or its first chart if there is none."""

        def chart_of(self, result: object) -> str:
            """Return the first chart of the result as SVG."""

        def figure_of(self, result: object, number: int) -> Any:
            """Return a chart of the result as a plotly figure."""

        def graph_summary(self, graph: Any) -> str:
            """Return the layers of an ML Compute graph as a table."""

        def graph_picture(self, graph: Any) -> Any:
            """Return a drawing of an ML Compute graph that a notebook can display."""

        def tensor_history(self, tensor: Any) -> str:
            """Return the operations that produced an ML Compute tensor, as text."""

        def save_trace(self, collection: Any, path: str | os.PathLike[str]) -> int:
            """Write the records of a collection of engines as a trace.

            Return the number of events written.
            """


#: Loads the renderer, because results must not import `show` themselves. Set by `pipeline.connect`.
renderer: Callable[[], Renderer]
