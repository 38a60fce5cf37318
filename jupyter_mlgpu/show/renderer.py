"""The functions that other packages call through `record.Renderer`, which documents each of them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from jupyter_mlgpu.show.page.rendering import as_html, as_text, bundle_of, chart_of, figure_of, picture_of

if TYPE_CHECKING:
    from jupyter_mlgpu.explain.engines.collection import Collection
    from jupyter_mlgpu.graphs.mlcompute.structure import Graph
    from jupyter_mlgpu.graphs.mlcompute.tensors import Tensor
    from jupyter_mlgpu.show.page.rendering import Drawing

__all__ = [
    "as_html",
    "as_text",
    "bundle_of",
    "chart_of",
    "figure_of",
    "graph_picture",
    "graph_summary",
    "picture_of",
    "save_trace",
    "tensor_history",
]


def graph_summary(graph: Graph) -> str:
    """Return the layers of an ML Compute graph as a table."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.summary(graph)


def graph_picture(graph: Graph) -> Drawing:
    """Return a drawing of an ML Compute graph."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.picture(graph)


def tensor_history(tensor: Tensor) -> str:
    """Return the operations that produced an ML Compute tensor, as text."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.explain(tensor)


def save_trace(collection: Collection, path: str | os.PathLike[str]) -> int:
    """Write the records of a collection of engines as a trace. Return the number of its events."""
    from jupyter_mlgpu.show.engines import trace

    return trace.save(collection, path)
