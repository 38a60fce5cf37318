"""Whether the user's program has imported a module: asked without importing it."""

from __future__ import annotations

import importlib.util
import sys


def imported(name: str) -> bool:
    """A module stands in `sys.modules` while it is still importing; that does not count."""
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return spec is not None and not getattr(spec, "_initializing", False)


def installed(name: str) -> bool:
    """Whether `import name` would find something."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # of a dotted name, the first part is not there
        return False
