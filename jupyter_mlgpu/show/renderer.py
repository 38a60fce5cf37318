"""The functions that earlier rooms call to draw or to write; `record.Renderer` says what each does."""

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
    """The layers of a graph as a table."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.summary(graph)


def graph_picture(graph: Graph) -> Drawing:
    """A graph as a drawing."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.picture(graph)


def tensor_history(tensor: Tensor) -> str:
    """How a tensor came to be."""
    from jupyter_mlgpu.show.mlcompute import page

    return page.explain(tensor)


def save_trace(collection: Collection, path: str | os.PathLike[str]) -> int:
    """Write what engines sent as a trace; returns how many events it holds."""
    from jupyter_mlgpu.show.engines import trace

    return trace.save(collection, path)
