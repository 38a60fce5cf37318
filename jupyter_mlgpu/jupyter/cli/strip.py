"""Remove jupyter_mlgpu's receipts from notebooks, in place. Everything else stays as it is, byte for byte."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from jupyter_mlgpu.record.errors import MlgpuError, UsageError

EXAMPLE = """\
examples:
  jupyter mlgpu strip lesson.ipynb
  jupyter mlgpu strip notebooks/*.ipynb
"""

_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words that may follow `jupyter mlgpu strip`."""
    parser.add_argument("notebooks", nargs="+", type=Path, metavar="NOTEBOOK", help="a notebook file")


def main(arguments: argparse.Namespace) -> int:
    """Strip each notebook; one that cannot be stripped does not keep the others from it."""
    status = 0
    for path in arguments.notebooks:
        try:
            count = strip_file(path)
        except MlgpuError as error:
            print(f"jupyter mlgpu: {error}", file=sys.stderr)
            status = 2
        else:
            print(f"{path}: {_removed(count)}")
    return status


def strip_file(path: Path) -> int:
    """Remove the receipts from a notebook file; returns how many there were.

    A file without receipts is not written. Raises UsageError for what is no notebook, MlgpuError for
    a file that cannot be written.
    """
    from jupyter_mlgpu.record.files import write_atomically
    from jupyter_mlgpu.record.incoming import MOST_OF_ONES_OWN, read_notebook

    data = read_notebook(path, most=MOST_OF_ONES_OWN)
    try:
        stripped, count = strip_text(data.decode())
    except (ValueError, RecursionError, _NotANotebookError) as error:
        raise UsageError(
            f"{path} is not a notebook of format 4 ({_reason(error)}); it was left as it is."
        ) from error
    if count:
        write_atomically(path, stripped.encode())
    return count


def strip_text(text: str) -> tuple[str, int]:
    """A notebook's JSON without our receipts, and how many it had."""
    if not isinstance(json.loads(text), dict):
        raise _NotANotebookError("it holds no JSON object")
    cells = _member(text, _skip_space(text, 0), "cells")
    if cells is None or not isinstance(cells.value, list):
        raise _NotANotebookError("it has no list of cells")
    pieces: list[str] = []
    done = 0
    count = 0
    for start, end, receipts in _cuts(text, cells):
        pieces.append(text[done:start])
        done = end
        count += receipts
    return "".join([*pieces, text[done:]]), count


def _cuts(text: str, cells: _Part) -> Iterator[tuple[int, int, int]]:
    """The stretches of text to leave out, each with the number of receipts in it."""
    for cell in _parts(text, cells.start):
        outputs = _member(text, cell.start, "outputs") if isinstance(cell.value, dict) else None
        if outputs is None or not isinstance(outputs.value, list):
            continue
        parts = list(_parts(text, outputs.start))
        ours = [_is_receipt(part.value) for part in parts]
        if all(ours):
            if ours:  # what Jupyter writes for no outputs, without the white space that stood between them
                yield outputs.start + 1, outputs.end - 1, len(ours)
            continue
        first_kept = ours.index(False)
        if first_kept:
            yield parts[0].start, parts[first_kept].start, first_kept
        for before, after in pairwise(range(first_kept, len(parts))):
            if ours[after]:  # with the comma before it
                yield parts[before].end, parts[after].end, 1


def _is_receipt(output: Any) -> bool:
    from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

    data = output.get("data") if isinstance(output, dict) else None
    return isinstance(data, dict) and MIME_TYPE in data


class _NotANotebookError(Exception):
    """Why a text is not a notebook."""


class _Part(NamedTuple):
    """A value inside a JSON text: its key (None in a list), where it starts and ends, and the value."""

    key: str | None
    start: int
    end: int
    value: Any


def _parts(text: str, start: int) -> Iterator[_Part]:
    """The members of the object, or the items of the list, that begins at `start` in a valid JSON text."""
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
    # Python, as Jupyter in the browser, takes the last of several members with the same key.
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


def _removed(count: int) -> str:
    if not count:
        return "no receipts, left as it is."
    return f"removed {count:,} receipt{'s' if count != 1 else ''}."
