"""A preprocessor of nbgrader that takes the hidden tests out of feedback, whatever their result was.

nbgrader finds the class by name (`teach/commands/grade.py` passes it).
"""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor

_BEGIN, _END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"


class HideTests(NbGraderPreprocessor):  # type: ignore[misc]
    """Removes hidden tests from the cells, and their lines from tracebacks; an error's message stays."""

    def preprocess_cell(self, cell: Any, resources: Any, index: int) -> tuple[Any, Any]:
        """Change one cell; nbconvert calls this."""
        if cell.cell_type != "code":
            return cell, resources
        cell.source, hidden = without_hidden_tests(cell.source)
        for output in cell.outputs:
            if output.output_type == "error" and any(line in "".join(output.traceback) for line in hidden):
                output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources


def without_hidden_tests(source: str) -> tuple[str, set[str]]:
    """Return a cell's text without its hidden tests, and their lines without indentation."""
    kept: list[str] = []
    hidden: set[str] = set()
    inside = False
    for line in source.splitlines():
        if _BEGIN in line:
            inside = True
        elif _END in line:
            inside = False
        elif inside:
            hidden |= {line.strip()} - {""}
        else:
            kept.append(line)
    return "\n".join(kept), hidden
