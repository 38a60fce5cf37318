"""What the lines of a cell say to us: magics of ours, a race, and the line it is called by.

`ours` tells of a magic whether it is ours, or the user's own under such a name, which says nothing to us.
"""

from __future__ import annotations

import re

from jupyter_mlgpu.jupyter.notebook.cell.cell_title import cell_title
from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import IsOurMagic
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import TRACE_CELL, asked_over
from jupyter_mlgpu.record.errors import UsageError

_EXTENSION = (
    "%load_ext jupyter_mlgpu",
    "%unload_ext jupyter_mlgpu",
    "%reload_ext jupyter_mlgpu",
)
RACE_CELL = "%%mlc_race"

#: Magics that may stand over another cell magic.
_BEFORE_ANOTHER = (TRACE_CELL, "%%mlc_device")

_LOADS_US = re.compile(r"^\s*%?(re)?load_ext\s+jupyter_mlgpu\b", re.MULTILINE)
_NAMED_AS_OURS = re.compile(r"^\s*(%%?mlc_\w*|%mlgpu\b)", re.MULTILINE)


def only_ours(code: str, ours: IsOurMagic) -> bool:
    """Whether a cell does nothing but steer this package: such a cell needs no receipt."""
    lines = [line.strip() for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    return all(not line.startswith("%%") and _steers_us(line, ours) for line in lines)


def calls_us(code: str, ours: IsOurMagic) -> bool:
    """Whether a cell loads this package or has a magic of ours in it."""
    return _LOADS_US.search(code) is not None or any(map(ours, _NAMED_AS_OURS.findall(code)))


def is_race(code: str, ours: IsOurMagic) -> bool:
    """Whether a cell, below lines that choose its device or its tracing, is a race."""
    line = _below_what_stands_over(code, ours)
    return line.startswith(RACE_CELL) and _steers_us(line, ours)


def refused(code: str, ours: IsOurMagic) -> bool:
    """Whether the words over a cell are refused, so that nothing of it runs, and nothing is to be measured.

    What stands there in a variable is not known before the line runs.
    """
    if code.split(maxsplit=1)[:1] == [TRACE_CELL] and ours(TRACE_CELL) and asked_over(code) is None:
        return True
    if not is_race(code, ours) or (line := _below_what_stands_over(code, ours)).count("{"):
        return False
    from jupyter_mlgpu.experiment.race import options  # races are seldom

    words = f" {line.removeprefix(RACE_CELL)}".partition(" #")[0].strip()
    try:
        options.parse(words)
    except UsageError:
        return "$" not in words
    return False


def title(code: str, ours: IsOurMagic) -> str:
    """The line that tells what a cell is about; one of our own magics only where there is nothing else."""
    lines = code.splitlines()
    told = cell_title("\n".join("" if _steers_us(line.strip(), ours) else line for line in lines))
    if told and is_race(code, ours):
        return f"race: {told}"
    return told or next((line.strip() for line in lines if line.strip()), "")


def _steers_us(line: str, ours: IsOurMagic) -> bool:
    named = _NAMED_AS_OURS.match(line)
    return line.startswith(_EXTENSION) or (named is not None and ours(named[1]))


def _below_what_stands_over(code: str, ours: IsOurMagic) -> str:
    """A cell's first line but for those that may stand over another cell magic; empty where there is none."""
    lines = (line for line in code.splitlines() if line.strip())
    return next(
        (line for line in lines if not (line.startswith(_BEFORE_ANOTHER) and _steers_us(line, ours))), ""
    )
