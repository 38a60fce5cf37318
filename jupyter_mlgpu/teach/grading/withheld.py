"""Parts of a lab that only its teacher may see, and a search for them in files for students."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

#: nbgrader removes the lines between BEGIN and END of these from the students' version.
REGIONS = ("SOLUTION", "HIDDEN TESTS", "MARK SCHEME")

#: Shorter lines, such as `break` or `return total`, occur in any program.
_TELLING = 15


def lines(notebook: Mapping[str, Any]) -> set[str]:
    """Return the lines of a lab's source that occur only in parts that students must not get."""
    opened: set[str] = set()
    closed: set[str] = set()
    for cell in notebook["cells"]:
        hidden: str | None = None
        written = "".join(cell["source"]).splitlines()
        has_regions = any(f"BEGIN {kind}" in line for line in written for kind in REGIONS)
        # Without a region, nbgrader removes an answer's whole cell.
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


def first_leak(path: Path, kept: set[str]) -> str | None:
    """Return the first line of a file for students that gives something away, or None.

    Of a notebook, the texts and outputs of its cells are searched; other text files are searched as they are.
    """
    text = path.read_bytes().decode("utf-8", errors="replace")
    texts = _of_a_notebook(text) if path.suffix == ".ipynb" else text.splitlines()
    marks = [f"{side} {kind}" for side in ("BEGIN", "END") for kind in REGIONS]
    for line in texts:
        if line.strip() in kept or any(mark in line for mark in marks):
            return line.strip()
    return None


def _of_a_notebook(text: str) -> Iterator[str]:
    """Yield all lines of all texts in a notebook."""
    waiting: list[Any] = [json.loads(text)]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
        elif isinstance(one, str):
            yield from one.splitlines()
