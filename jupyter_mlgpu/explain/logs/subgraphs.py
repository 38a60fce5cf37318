"""Collect what log lines say of ML Compute's subgraphs, the MLCSubgraphOp nodes.

Only what public logs show is read. No log is known that lists the operations of a subgraph that worked.
"""

from __future__ import annotations

import re
from typing import Any

#: The name that ML Compute gives them.
SUBGRAPH = "MLCSubgraphOp"
#: The most subgraphs that are named; the rest is left out of the fact.
LIMIT = 200

_NAME = rf"(?P<name>\S*{SUBGRAPH}_\w+)"
_NAMED = re.compile(_NAME)
_CONVERTED = re.compile(rf"Finished converting subgraph {_NAME}")
_FAILED = re.compile(rf"Failed in processing TensorFlow graph {_NAME}")
# "... for node: n10 = a/RealDiv (RealDiv)", "... for node: Reshape_1", "... for n20 = a/MatMul_1 (MatMul)".
_NODE = re.compile(r" for (?:node: )?(?:n\d+ = |(?<=node: ))(?P<node>[^\s(]+)(?: \((?P<operation>\w+)\))?")


class Subgraphs:
    """The subgraphs that one cell's lines named."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._converted: dict[str, None] = {}
        self._fell_back: dict[str, None] = {}
        self._nodes: dict[str, dict[str, str | None]] = {}

    def add(self, body: str) -> None:
        """Add a message's body."""
        for found in _NAMED.finditer(body):
            if len(self._names) < LIMIT:
                self._names.add(found["name"])
        converted, failed = _CONVERTED.search(body), _FAILED.search(body)
        if converted and converted["name"] in self._names:
            self._converted[converted["name"]] = None
        if failed and failed["name"] in self._names:
            self._fell_back[failed["name"]] = None
            node = _NODE.search(body, failed.end())
            if node:
                self._nodes.setdefault(failed["name"], {})[node["node"]] = node["operation"]

    def fact(self) -> dict[str, Any] | None:
        """Return the names by what happened to them, or None if no subgraph was named.

        `nodes` holds, for each subgraph that fell back, the node named as the reason and its operation, or
        null if the line does not have it.
        """
        if not self._names:
            return None
        return {
            "count": len(self._names),
            "converted": list(self._converted),
            "fell_back": list(self._fell_back),
            "nodes": self._nodes,
        }
