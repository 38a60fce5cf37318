"""Remove jupyter_mlgpu's receipts from notebooks, in place. Everything else stays as it is, byte for byte.

With --git-filter, no notebook is changed: git leaves receipts out of commits, and they stay in your files.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from jupyter_mlgpu.jupyter.cli.terminal import complain, tell
from jupyter_mlgpu.record.errors import MlgpuError, UsageError
from jupyter_mlgpu.record.visible import visible_line

EXAMPLE = """\
examples:
  jupyter mlgpu strip lesson.ipynb
  jupyter mlgpu strip --all notebooks/*.ipynb
  jupyter mlgpu strip --git-filter
"""

#: The argument for reading a notebook from standard input and writing it to standard output, as git does.
STANDARD_INPUT = Path("-")

#: MIME types of a receipt and of the output under a cell that ended the kernel, and the prefix of all ours.
RECORD = "application/vnd.jupyter-mlgpu.record+json"
EXIT = "application/vnd.jupyter-mlgpu.exit+json"
_OURS = "application/vnd.jupyter-mlgpu."
#: The beginning of a receipt's plain text.
ONE_LINE = "[mlgpu] "

_NOTHING = "No notebooks given: name their files, or use --git-filter."
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu strip`."""
    parser.add_argument(
        "notebooks",
        nargs="*",
        type=Path,
        metavar="NOTEBOOK",
        help="a notebook file; `-` reads a notebook from standard input",
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help="remove every output of jupyter_mlgpu, including races, plans and benchmarks",
    )
    parser.add_argument(
        "--git-filter",
        action="store_true",
        help="have git strip everything committed in this repository; your files stay as they are",
    )


def main(arguments: argparse.Namespace) -> int:
    """Strip each notebook and return the exit status; a failure with one does not affect the others."""
    if arguments.git_filter:
        from jupyter_mlgpu.jupyter.cli import git_filter

        tell(git_filter.install(everything=arguments.all))
    elif not arguments.notebooks:
        raise UsageError(_NOTHING)
    if arguments.notebooks == [STANDARD_INPUT]:
        return _strip_standard_input(everything=arguments.all)
    status = 0
    for path in arguments.notebooks:
        try:
            count = strip_file(path, everything=arguments.all)
        except MlgpuError as error:
            complain(error)
            status = 2
        else:
            tell(f"{visible_line(path)}: {_removed(count, everything=arguments.all)}")
    return status


def _strip_standard_input(*, everything: bool) -> int:
    """Strip standard input for git; other text is passed on unchanged, so no commit loses data."""
    from jupyter_mlgpu.record.incoming import unreadable

    stdin: TextIO | None = sys.stdin  # None where it was closed
    if stdin is None:
        raise UsageError(_NOTHING)
    try:
        data = stdin.buffer.read()
    except OSError as error:
        raise unreadable(STANDARD_INPUT, "a notebook", error) from error
    try:
        data = strip_text(data.decode(), everything=everything)[0].encode()
    except (ValueError, RecursionError, _NotANotebookError) as error:
        complain(f"this is not a notebook ({_reason(error)}); it was left unchanged.")
    sys.stdout.buffer.write(data)
    return 0


def strip_file(path: Path, *, everything: bool = False) -> int:
    """Remove the receipts from a notebook file, or `everything` of ours; return how many there were.

    A file without receipts is not written. A file with several names (hard links) is written in place, with
    its new content in a temporary file next to it until that is done (`record/rewriting.py`). Any other file
    is replaced in one step. Raises UsageError if it is no notebook, and MlgpuError if it cannot be written.
    """
    from jupyter_mlgpu.record.incoming import MOST_OF_ONES_OWN, read_notebook
    from jupyter_mlgpu.record.rewriting import rewrite

    data = read_notebook(path, most=MOST_OF_ONES_OWN)
    try:
        stripped, count = strip_text(data.decode(), everything=everything)
    except (ValueError, RecursionError, _NotANotebookError) as error:
        raise UsageError(
            f"{visible_line(path)} is not a notebook in format 4 ({_reason(error)}); it was left unchanged."
        ) from error
    if count:
        rewrite(path, stripped.encode())
    return count


def strip_text(text: str, *, everything: bool = False) -> tuple[str, int]:
    """Return a notebook's JSON without our receipts or all our outputs, and the number of those removed."""
    if not isinstance(json.loads(text), dict):
        raise _NotANotebookError("it contains no JSON object")
    cells = _member(text, _skip_space(text, 0), "cells")
    if cells is None or not isinstance(cells.value, list):
        raise _NotANotebookError("it has no list of cells")
    pieces: list[str] = []
    done = 0
    count = 0
    for start, end, receipts in _cuts(text, cells, _is_ours if everything else is_receipt):
        pieces.append(text[done:start])
        done = end
        count += receipts
    return "".join([*pieces, text[done:]]), count


def _cuts(text: str, cells: _Part, is_cut: Callable[[Any], bool]) -> Iterator[tuple[int, int, int]]:
    """Yield the ranges of text to remove, each with the number of outputs in it."""
    for cell in _parts(text, cells.start):
        outputs = _member(text, cell.start, "outputs") if isinstance(cell.value, dict) else None
        if outputs is None or not isinstance(outputs.value, list):
            continue
        parts = list(_parts(text, outputs.start))
        ours = [is_cut(part.value) for part in parts]
        if all(ours):
            if ours:  # leaves `[]`, as Jupyter writes an empty list, without white space
                yield outputs.start + 1, outputs.end - 1, len(ours)
            continue
        first_kept = ours.index(False)
        if first_kept:
            yield parts[0].start, parts[first_kept].start, first_kept
        for before, after in pairwise(range(first_kept, len(parts))):
            if ours[after]:  # including the comma before it
                yield parts[before].end, parts[after].end, 1


def is_receipt(output: Any) -> bool:
    """Return True if an output of a notebook is a receipt, its one line, or tells how the kernel died."""
    data = _data(output)
    text = data.get("text/plain") if len(data) == 1 else None
    first = text[0] if isinstance(text, list) and text else text
    return RECORD in data or EXIT in data or (isinstance(first, str) and first.startswith(ONE_LINE))


def _is_ours(output: Any) -> bool:
    return is_receipt(output) or any(kind.startswith(_OURS) for kind in _data(output))


def _data(output: Any) -> dict[str, Any]:
    data = output.get("data") if isinstance(output, dict) else None
    return data if isinstance(data, dict) else {}


class _NotANotebookError(Exception):
    """The reason why a text is not a notebook."""


class _Part(NamedTuple):
    """A value inside a JSON text: its key (None in a list), its start and end, and the value."""

    key: str | None
    start: int
    end: int
    value: Any


def _parts(text: str, start: int) -> Iterator[_Part]:
    """Yield the members of the object, or the items of the list, that begins at `start` in valid JSON."""
    in_object = text[start] == "{"
    at = _skip_space(text, start + 1)
    while text[at] not in "]}":
        key = None
        if in_object:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)  # past the colon
        value, end = _DECODER.raw_decode(text, at)
        yield _Part(key, at, end, value)
        at = _skip_space(text, end)
        if text[at] == ",":
            at = _skip_space(text, at + 1)


def _member(text: str, start: int, key: str) -> _Part | None:
    # Of several members with the same key the last counts, in Python as in the browser.
    return next((part for part in reversed(list(_parts(text, start))) if part.key == key), None)


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _reason(error: Exception) -> str:
    if isinstance(error, _NotANotebookError):
        return str(error)
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not UTF-8 text" if isinstance(error, UnicodeDecodeError) else "it is not JSON"


def _removed(count: int, *, everything: bool) -> str:
    what = "output" if everything else "receipt"
    if not count:
        return f"no {what}s{' of jupyter_mlgpu' if everything else ''}, left unchanged."
    return f"removed {count:,} {what}{'s' if count != 1 else ''}."
