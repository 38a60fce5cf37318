"""Figures that a lesson's prose quotes, and where they come from.

A number in a text cell that stands in an output is followed by a comment, which no reader sees:

    an H200 trains 555<!-- chart: 128 .* (\\S+)$ --> images a second

It names a cell of the same lesson, or a file of this project, and a pattern whose group is the number there.
Two patterns with ` / ` between them are divided: the prose gives the ratio. The prose may round: it has to
agree to the last digit that it writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbformat import NotebookNode

from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

ROOT = Path(__file__).resolve().parents[2]

_MARK = re.compile(r"<!-- (?P<source>\S+): (?P<pattern>.+?) -->")
#: A number as prose writes it; what belongs to a name, a version or a date is none.
NUMBER = re.compile(r"(?<![\w.,/#-])\d[\d,]*(?:\.\d+)?(?![\w-]|\.\d|,\d)")


class FigureError(Exception):
    """A marked number does not agree with what it is said to come from; the text says how."""


@dataclass(frozen=True)
class Mark:
    """A number of a text cell: as it is written, where it comes from, and the pattern there."""

    cell: str
    written: str
    source: str
    pattern: str


def marks(notebook: NotebookNode) -> list[Mark]:
    """The marked numbers of a lesson, in order. Raises FigureError where no number stands before a mark."""
    found = []
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        for mark in _MARK.finditer(cell.source):
            before = without_marks(cell.source[: mark.start()])
            numbers = NUMBER.findall(before[-24:])
            if not numbers:
                raise FigureError(f"{cell.id}: no number stands before {mark[0]}")
            found.append(Mark(cell.id, numbers[-1].rstrip(","), mark["source"], mark["pattern"]))
    return found


def judge(mark: Mark, notebook: NotebookNode) -> None:
    """Raises FigureError where a number is not the one that its source has."""
    text = _text_of(mark.source, notebook)
    values = [_found(pattern, text, mark) for pattern in mark.pattern.split(" / ")]
    there = values[0] if len(values) == 1 else values[0] / values[1]
    decimals = len(mark.written.partition(".")[2])
    if abs(_value(mark.written) - there) > 0.5001 * 10**-decimals:
        raise FigureError(f"{mark.cell}: the text says {mark.written}, {mark.source} has {there:.6g}")


def quoted(notebook: NotebookNode) -> Iterator[tuple[str, str]]:
    """Numbers of the prose, with their cells, that stand in an output and nowhere in the lesson's code.

    Those of three digits, or two with a decimal point: shorter ones agree with something by chance.
    """
    code = " ".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    settings = {_value(one) for one in NUMBER.findall(code.replace("_", ""))}
    outputs = " ".join(shown(cell) for cell in notebook.cells if cell.cell_type == "code")
    there = {_value(one) for one in NUMBER.findall(outputs)} - settings
    for cell in notebook.cells:
        if cell.cell_type != "markdown":
            continue
        prose = re.sub(r"\]\(\S+\)|`[^`]*`", " ", without_marks(cell.source))
        for written in NUMBER.findall(prose):
            digits = len(re.sub(r"\D", "", written).lstrip("0"))
            if digits > (1 if "." in written else 2) and _value(written) in there:
                yield cell.id, written.rstrip(",")


def without_marks(prose: str) -> str:
    """A text cell as a reader sees it."""
    return _MARK.sub("", prose)


def shown(cell: NotebookNode) -> str:
    """What a code cell printed and gave back, as text, without its receipt."""
    outputs = [one for one in cell.outputs if MIME_TYPE not in one.get("data", {})]
    return "\n".join(one.get("text") or one.data.get("text/plain", "") for one in outputs)


def _text_of(source: str, notebook: NotebookNode) -> str:
    for cell in notebook.cells:
        if cell.id == source:
            return shown(cell) if cell.cell_type == "code" else without_marks(cell.source)
    path = ROOT / source
    if not path.is_file():
        raise FigureError(f"There is no cell and no file {source!r}.")
    text = path.read_text(encoding="utf-8")
    return text if path.suffix != ".ipynb" else "\n".join(_plain(json.loads(text)))


def _plain(notebook: Mapping[str, list[dict[str, list[dict[str, object]]]]]) -> Iterator[str]:
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            data = output.get("data")
            text = output.get("text") or (data.get("text/plain", "") if isinstance(data, dict) else "")
            yield text if isinstance(text, str) else "".join(map(str, text if isinstance(text, list) else []))


def _found(pattern: str, text: str, mark: Mark) -> float:
    match = re.search(pattern, text, re.MULTILINE)
    if match is None:
        raise FigureError(f"{mark.cell}: nothing in {mark.source} matches {pattern!r}")
    return _value(match[1])


def _value(written: str) -> float:
    return float(written.replace(",", ""))
