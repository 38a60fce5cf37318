"""What of a lab is for its teacher alone, and whether a file for students has any of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: What nbgrader takes out of the students' version lies between lines with BEGIN and END of these.
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")

#: Shorter lines, such as `break` or `return total`, stand in any program.
_TELLING = 15


def lines(notebook: Mapping[str, Any]) -> set[str]:
    """The lines of a lab's source that students must not get: those that stand in no open part of it, too."""
    opened: set[str] = set()
    closed: set[str] = set()
    for cell in notebook["cells"]:
        hidden: str | None = None
        written = "".join(cell["source"]).splitlines()
        has_regions = any(f"BEGIN {kind}" in line for line in written for kind in REGIONS)
        # Without a region, nbgrader takes out all of an answer's cell.
        whole = cell["metadata"].get("nbgrader", {}).get("solution") is True and not has_regions
        for line in written:
            begun = next((kind for kind in REGIONS if f"BEGIN {kind}" in line), None)
            if begun is not None:
                hidden = begun
            elif hidden is not None and f"END {hidden}" in line:
                hidden = None
            else:
                (closed if whole or hidden is not None else opened).add(line.strip())
    return {line for line in closed - opened if len(line) >= _TELLING}


def found(path: Path, kept: set[str]) -> str | None:
    """The first line of a file for students that gives something away; None where none does.

    Of a notebook, what its cells say and print; any other file that is text is read as it is.
    """
    text = path.read_bytes().decode("utf-8", errors="replace")
    given = _of_a_notebook(text) if path.suffix == ".ipynb" else text.splitlines()
    marks = [f"{side} {kind}" for side in ("BEGIN", "END") for kind in REGIONS]
    for line in given:
        if line.strip() in kept or any(mark in line for mark in marks):
            return line.strip()
    return None


def _of_a_notebook(text: str) -> Iterator[str]:
    """All lines of all texts in a notebook, wherever they stand in it."""
    waiting: list[Any] = [json.loads(text)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str):
            yield from one.splitlines()
