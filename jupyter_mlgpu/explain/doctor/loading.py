"""What the dynamic loader says when a library or a symbol is missing."""

from __future__ import annotations

import re

_SAYS = re.compile(
    r"symbol not found|undefined symbol|Library not loaded|image not found|incompatible architecture"
    r"|cannot open shared object|not defined in file|DLL load failed",
    re.IGNORECASE,
)


def loaders_line(error: str) -> str | None:
    """The last line of an error that is the loader's; None where there is none."""
    return next((line.strip() for line in reversed(error.splitlines()) if _SAYS.search(line)), None)
