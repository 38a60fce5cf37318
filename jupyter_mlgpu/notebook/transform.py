"""`%%mlc_trace` as a cell's first line, taken away before IPython reads the cell.

The rest of the cell is then ordinary code: its result is shown, its exception and traceback are its
own, `await` works, and another cell magic may follow. `events` sees the line in the cell's raw text.
"""

from __future__ import annotations

from jupyter_mlgpu.notebook.events import TRACE_CELL


def drop_trace_line(lines: list[str]) -> list[str]:
    """An IPython input transformer: lines with their line ends in, lines out."""
    if not lines or lines[0].split() != [TRACE_CELL] or len(lines) == 1:
        return lines
    if lines[1].startswith("%%"):  # another cell magic must come first to be seen
        return lines[1:]
    # A comment in its place keeps the line numbers of tracebacks.
    return [f"# {TRACE_CELL}\n", *lines[1:]]
