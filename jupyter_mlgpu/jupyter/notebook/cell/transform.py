"""Rewrites `%%mlc_trace` and `%%mlc_device` in a cell's first line before IPython parses the cell.

The rest of the cell is then ordinary code: its result is shown, its exception and traceback are its own,
`await` works, and another cell magic may follow. `events` reads the line in the cell's raw text. If the user
has registered a magic of the same name, the cell is left unchanged.
"""

from __future__ import annotations

from IPython.core.inputtransformer2 import cell_magic

from jupyter_mlgpu.jupyter.notebook.magics.magic_ownership import IsOurMagic
from jupyter_mlgpu.jupyter.notebook.magics.ops_command import TRACE_CELL, parse_request
from jupyter_mlgpu.record.errors import UsageError

DEVICE_CELL = "%%mlc_device"
THIS_CELL = "--this-cell"


def drop_trace_line(lines: list[str], ours: IsOurMagic) -> list[str]:
    """Return a cell's lines without `%%mlc_trace`; an IPython input transformer.

    Lines include their line ends. If the options are rejected, the first line becomes a magic that reports
    this and ends the cell before any of its code runs. A cell that is to run several times is left to the
    cell magic.
    """
    if len(lines) < 2 or lines[0].split()[:1] != [TRACE_CELL] or not ours(TRACE_CELL):
        return lines
    words = lines[0].strip().removeprefix(TRACE_CELL)
    try:
        request = parse_request(words)
    except UsageError:
        if not ours("%mlc_trace"):  # then the cell magic reports the error
            return lines
        return _led_by(f"%mlc_trace{words}", lines[1:])
    if request.repeat is not None:
        return lines
    if lines[1].startswith("%%"):  # IPython finds another cell magic only in the first line
        return lines[1:]
    # A comment in its place keeps the line numbers in tracebacks.
    return [f"# {TRACE_CELL}{words}\n", *lines[1:]]


def device_line(lines: list[str], ours: IsOurMagic) -> list[str]:
    """Return a cell's lines with `%%mlc_device cpu` turned into a line magic that moves the rest of the cell.

    An IPython input transformer. If the device is rejected, that line ends the cell before any of its code
    runs.
    """
    if len(lines) < 2 or lines[0].split()[:1] != [DEVICE_CELL]:
        return lines
    if not (ours(DEVICE_CELL) and ours("%mlc_device")):
        return lines
    return _led_by(f"%mlc_device{lines[0].strip().removeprefix(DEVICE_CELL)}", lines[1:])


def _led_by(magic: str, rest: list[str]) -> list[str]:
    """Return the rest of a cell preceded by a line magic; the rest may begin with another cell magic."""
    if rest[0].startswith("%%"):
        rest = cell_magic(rest)  # type: ignore[no-untyped-call]
    return [f"{magic} {THIS_CELL}\n", *rest]
