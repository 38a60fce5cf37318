"""The issue of PyTorch's that is about a wrong result on MPS, from the table of what is known to be wrong."""

from __future__ import annotations

from jupyter_mlgpu.graphs.mps import composites, tables, wrong
from jupyter_mlgpu.graphs.mps.spans import in_words
from jupyter_mlgpu.measure.checking.result import WrongResult
from jupyter_mlgpu.record.sentence import Sentence, joined, say

#: Most issues of one operation.
_MOST = 3


def known(result: WrongResult, version: str) -> Sentence | None:
    """Return what is known of a wrong result with this version of PyTorch, or None.

    The table has conditions that no result shows, such as the layout of an input: they are told. Of an
    operation's number types and ranks, those of its result are looked up.
    """
    if result.device != "mps":
        return None
    operation = result.operation.removeprefix("aten.")
    names = dict.fromkeys((operation, operation.removesuffix("_"), *composites.calls(operation)))
    types, ranks = frozenset({result.dtype}), frozenset({len(result.shape)})
    rows = [row for name in names for row in wrong.rows(name, types, ranks, version) if row.effect == "wrong"]
    return joined(*map(_sentence, [*dict.fromkeys(rows)][:_MOST])) if rows else None


def _sentence(row: wrong.Wrong) -> Sentence:
    return say(
        "Known: {issue} ({versions}), where {when}.",
        issue=tables.issue(row.issue),
        versions=in_words(row.versions, tables.versions()),
        when=row.when,
    )
