"""Recognizes the dynamic loader's messages about a missing library or symbol."""

from __future__ import annotations

import re

_SAYS = re.compile(
    r"symbol not found|undefined symbol|Library not loaded|image not found|incompatible architecture"
    r"|cannot open shared object|not defined in file|DLL load failed",
    re.IGNORECASE,
)


def loaders_line(error: str) -> str | None:
    """Return the last line of an error that comes from the loader, or None."""
    return next((line.strip() for line in reversed(error.splitlines()) if _SAYS.search(line)), None)
