"""What the lines of a cell say to us: magics of ours, a race, and the line it is called by."""

from __future__ import annotations

import re

from jupyter_mlgpu.errors import UsageError
from jupyter_mlgpu.notebook.ops_command import TRACE_CELL, asked_over

OURS = (
    "%mlc_",
    "%load_ext jupyter_mlgpu",
    "%unload_ext jupyter_mlgpu",
    "%reload_ext jupyter_mlgpu",
)
RACE_CELL = "%%mlc_race"

#: Magics that may stand over another cell magic.
_BEFORE_ANOTHER = (TRACE_CELL, "%%mlc_device")

_CALLS_US = re.compile(r"^\s*(%?(re)?load_ext\s+jupyter_mlgpu\b|%%?mlc_)", re.MULTILINE)


def only_ours(code: str) -> bool:
    """Whether a cell does nothing but steer this package: such a cell needs no receipt."""
    lines = [line.strip() for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return all(line.startswith(OURS) for line in lines)


def calls_us(code: str) -> bool:
    """Whether a cell loads this package or has a magic of ours in it."""
    return _CALLS_US.search(code) is not None


def is_race(code: str) -> bool:
    """Whether a cell, below lines that choose its device or its tracing, is a race."""
    lines = [line for line in code.splitlines() if line.strip() and not line.startswith(_BEFORE_ANOTHER)]
    return bool(lines) and lines[0].startswith(RACE_CELL)


def refused(code: str) -> bool:
    """Whether the words over a cell are refused, so that nothing of it runs, and nothing is to be measured.

    What stands there in a variable is not known before the line runs.
    """
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    if lines and lines[0].split()[0] == TRACE_CELL and asked_over(code) is None:
        return True
    if not is_race(code) or (line := next(one for one in lines if one.startswith(RACE_CELL))).count("{"):
        return False
    from jupyter_mlgpu.race import options  # races are seldom

    words = f" {line.removeprefix(RACE_CELL)}".partition(" #")[0].strip()
    try:
        options.parse(words)
    except UsageError:
        return "$" not in words
    return False


def title(code: str) -> str:
    """The first line of code that is not a comment or one of our own magics."""
    lines = [line.strip() for line in code.splitlines() if line.strip()]
    for line in lines:
        if not line.startswith(("#", "%%mlc_", *OURS)):
            return f"race: {line}" if is_race(code) else line
    return lines[0] if lines else ""
