"""`%%mlc_trace` and `%%mlc_device` as a cell's first line, changed before IPython reads the cell.

The rest of the cell is then ordinary code: its result is shown, its exception and traceback are its
own, `await` works, and another cell magic may follow. `events` sees the line in the cell's raw text. Where
the user has registered a magic of their own under such a name, the cell is left to that one.
"""

from __future__ import annotations

from IPython.core.inputtransformer2 import cell_magic

from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import IsOurMagic
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import TRACE_CELL, asked
from jupyter_mlgpu.record.errors import UsageError

DEVICE_CELL = "%%mlc_device"
THIS_CELL = "--this-cell"


def drop_trace_line(lines: list[str], ours: IsOurMagic) -> list[str]:
    """An IPython input transformer: lines with their line ends in, lines out.

    Words that are refused become a first line that says so, and ends the cell before anything of it has run.
    A cell that is to run several times is left to the magic.
    """
    if len(lines) < 2 or lines[0].split()[:1] != [TRACE_CELL] or not ours(TRACE_CELL):
        return lines
    words = lines[0].strip().removeprefix(TRACE_CELL)
    try:
        wanted = asked(words)
    except UsageError:
        if not ours("%mlc_trace"):  # the magic itself refuses them
            return lines
        return _led_by(f"%mlc_trace{words}", lines[1:])
    if wanted.repeat is not None:
        return lines
    if lines[1].startswith("%%"):  # another cell magic must come first to be seen
        return lines[1:]
    # A comment in its place keeps the line numbers of tracebacks.
    return [f"# {TRACE_CELL}{words}\n", *lines[1:]]


def device_line(lines: list[str], ours: IsOurMagic) -> list[str]:
    """An IPython input transformer: `%%mlc_device cpu` becomes a first line that moves the rest of the cell.

    Where the device is refused, that line ends the cell before anything of it has run.
    """
    if len(lines) < 2 or lines[0].split()[:1] != [DEVICE_CELL]:
        return lines
    if not (ours(DEVICE_CELL) and ours("%mlc_device")):
        return lines
    return _led_by(f"%mlc_device{lines[0].strip().removeprefix(DEVICE_CELL)}", lines[1:])


def _led_by(magic: str, rest: list[str]) -> list[str]:
    """The rest of a cell with a line magic of its own before it; another cell magic may lead the rest."""
    if rest[0].startswith("%%"):
        rest = cell_magic(rest)  # type: ignore[no-untyped-call]
    return [f"{magic} {THIS_CELL}\n", *rest]
