"""Finds our magics and races in a cell's text, and the line that serves as the cell's title.

The argument `ours` returns True if a magic is ours. A user's own magic of the same name does not count.
"""

from __future__ import annotations

import re

from jupyter_mlgpu.jupyter.notebook.cell.cell_title import cell_title
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import IsOurMagic
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import TRACE_CELL, request_over_cell
from jupyter_mlgpu.record.errors import UsageError

_EXTENSION = (
    "%load_ext jupyter_mlgpu",
    "%unload_ext jupyter_mlgpu",
    "%reload_ext jupyter_mlgpu",
)
RACE_CELL = "%%mlc_race"

#: Magics that may precede another cell magic.
_BEFORE_ANOTHER = (TRACE_CELL, "%%mlc_device")

_LOADS_US = re.compile(r"^\s*%?(re)?load_ext\s+jupyter_mlgpu\b", re.MULTILINE)
_NAMED_AS_OURS = re.compile(r"^\s*(%%?mlc_\w*|%mlgpu\b)", re.MULTILINE)


def only_steers_package(code: str, ours: IsOurMagic) -> bool:
    """Return True if a cell only controls this package, so it needs no receipt."""
    lines = [line.strip() for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return all(not line.startswith("%%") and _steers_us(line, ours) for line in lines)


def addresses_package(code: str, ours: IsOurMagic) -> bool:
    """Return True if a cell loads this package or contains one of our magics."""
    return _LOADS_US.search(code) is not None or any(map(ours, _NAMED_AS_OURS.findall(code)))


def is_race(code: str, ours: IsOurMagic) -> bool:
    """Return True if a cell is a race, ignoring lines above it that choose its device or tracing."""
    line = _first_own_line(code, ours)
    return line.startswith(RACE_CELL) and _steers_us(line, ours)


def has_rejected_options(code: str, ours: IsOurMagic) -> bool:
    """Return True if the options over a cell are rejected: none of its code runs, so nothing is measured.

    The value of a variable in the options is not known before the line runs.
    """
    if code.split(maxsplit=1)[:1] == [TRACE_CELL] and ours(TRACE_CELL) and request_over_cell(code) is None:
        return True
    if not is_race(code, ours) or (line := _first_own_line(code, ours)).count("{"):
        return False
    from jupyter_mlgpu.experiment.race import options  # imported here because races are rare

    words = f" {line.removeprefix(RACE_CELL)}".partition(" #")[0].strip()
    try:
        options.parse(words)
    except UsageError:
        return "$" not in words
    return False


def title(code: str, ours: IsOurMagic) -> str:
    """Return the line that best describes a cell; one of our magics only if there is no other line."""
    lines = code.splitlines()
    code_title = cell_title("\n".join("" if _steers_us(line.strip(), ours) else line for line in lines))
    if code_title and is_race(code, ours):
        return f"race: {code_title}"
    return code_title or next((line.strip() for line in lines if line.strip()), "")


def _steers_us(line: str, ours: IsOurMagic) -> bool:
    match = _NAMED_AS_OURS.match(line)
    return line.startswith(_EXTENSION) or (match is not None and ours(match[1]))


def _first_own_line(code: str, ours: IsOurMagic) -> str:
    """Return a cell's first line after those that may precede another cell magic, or "" if there is none."""
    lines = (line for line in code.splitlines() if line.strip())
    return next(
        (line for line in lines if not (line.startswith(_BEFORE_ANOTHER) and _steers_us(line, ours))), ""
    )
