"""The whole numbers among the variables that a cell's code names, but does not set itself."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from jupyter_mlgpu.jupyter.notebook.cell.named_values import named_values

#: Characters of a cell above which it is not taken apart, which takes a millisecond for so many.
_MOST = 8 * 1024
#: Lines for IPython alone.
_MAGIC = re.compile(r"^\s*[%!].*$", re.MULTILINE)


def whole_numbers(code: str, namespace: Mapping[str, Any]) -> dict[str, int]:
    """Name to number, also of what functions of the notebook name; empty for code that is long or odd.

    What the cell sets, as a loop does its variable, changes while it runs.
    """
    if len(code) > _MOST:
        return {}
    try:
        tree = ast.parse(_MAGIC.sub("", code))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    own = {one.id for one in ast.walk(tree) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    named = named_values(code, namespace)
    return {name: value for name, value in named.items() if type(value) is int and name not in own}
