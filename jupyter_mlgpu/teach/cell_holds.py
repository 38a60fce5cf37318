"""Detection of lesson cells that compute nothing: cells of definitions, or of a prediction.

Such a cell always takes about a millisecond, so its receipt has nothing to say and is folded.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from jupyter_mlgpu.measure.user_objects import defining_module
from jupyter_mlgpu.record.record import HOLDS_ONLY, Fact, Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.lessons.predicting import predict

#: Longest time in seconds. A definition that takes longer does more: a decorator may compile, or a default
#: value may compute.
SHORT_S = 0.15


def with_what_it_holds(record: Record, code: str, namespace: Mapping[str, Any]) -> Record:
    """Return the record with a fact added if its cell holds only definitions or a prediction."""
    wall = record.reading("wall_time").value
    if wall is None or wall > SHORT_S or record.mode == "profiled":
        return record
    found = holds(code, namespace)
    if found is None:
        return record
    fact = Fact(found, say("the cell's code"))
    return replace(record, facts={**record.facts, HOLDS_ONLY: fact})


def holds(code: str, namespace: Mapping[str, Any]) -> str | None:
    """Return "definitions" or "a prediction" if a cell consists only of those, else None."""
    try:
        parts = ast.parse(code).body
    except (SyntaxError, ValueError):  # a magic is not valid Python
        return None
    if not parts:
        return None
    if all(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) for one in parts):
        return "definitions"
    if all(_predicts(one, namespace) for one in parts):
        return "a prediction"
    return None


def _predicts(part: ast.stmt, namespace: Mapping[str, Any]) -> bool:
    called = part.value if isinstance(part, ast.Assign | ast.Expr) else None
    if not isinstance(called, ast.Call) or not isinstance(called.func, ast.Name):
        return False
    return defining_module(namespace.get(called.func.id)) == defining_module(predict)
