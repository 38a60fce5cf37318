"""Graphs without running them: plans, and ML Compute's API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# How a `Graph` and a `Tensor` of ML Compute are shown, which they do not know. Set by `pipeline.connect`.
#: A graph's layers as a table.
graph_summary: Callable[[Any], str]
#: A graph as a drawing, which a notebook shows by itself.
graph_picture: Callable[[Any], Any]
#: How a tensor came to be, as text.
tensor_history: Callable[[Any], str]
