"""Finds the integers among the variables that a cell's code names but does not set itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.jupyter.notebook.cell.named_values import named_values
from jupyter_mlgpu.record.parsing import parse

#: Characters of the longest cell that is parsed; parsing so many takes a millisecond.
_MOST = 8 * 1024
#: Lines in IPython's own syntax.
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


def whole_numbers(code: str, namespace: Mapping[str, Any]) -> dict[str, int]:
    """Return name to integer, including names in functions of the notebook.

    The result is empty if the code is too long or not Python. Names that the cell sets, such as a loop
    variable, are left out because they change while it runs.
    """
    if len(code) > _MOST:
        return {}
    try:
        tree = parse(_MAGIC.sub("", code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    own = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    named = named_values(code, namespace)
    return {name: value for name, value in named.items() if type(value) is int and name not in own}
