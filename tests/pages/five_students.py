"""Five made-up students do lab 1, each in their own way, and hand it in.

python five_students.py COURSE DOWNLOADS  runs what COURSE gives out, and puts it into DOWNLOADS
python five_students.py COURSE            checks the points that they got

It needs only nbclient, so the environment of a page can run it.
"""

from __future__ import annotations

import copy
import csv
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

LAB = "lab_1_tensor_graph"

FOLLOWS_EVERY_ARROW = """
def run_graph(graph, inputs, wanted, operations=OPERATIONS):
    if wanted in inputs:
        return inputs[wanted]
    operation, *sources = graph[wanted]
    return operations[operation](*(run_graph(graph, inputs, source, operations) for source in sources))
"""
LISTS_EVERYTHING = """
def needed(graph, wanted):
    return sorted(graph, key=lambda name: name != "total")
"""
IN_WORDS = "What nobody asked for is left out, and what two others take is kept. `once` is 100 times as fast."

#: What each wrote in the cells for answers, where it is not the teacher's; None is what they were given.
ANSWERS: dict[str, dict[str, str | None]] = {
    "ada": {"in-words": IN_WORDS},
    "bob": {"run-graph": FOLLOWS_EVERY_ARROW, "in-words": IN_WORDS},
    "chen": {"run-graph": None, "in-words": None},
    "dina": {"needed": LISTS_EVERYTHING, "in-words": IN_WORDS},
    "emil": {"needed": None, "run-graph": None, "in-words": None},
}
#: What grading gives them, before the teacher has read an answer.
POINTS = {"ada": 15, "bob": 8, "chen": 5, "dina": 4, "emil": 0}


def handed_in(student: str, release: Any, source: Any) -> Any:
    """Return what a student made of the release, after running and saving it."""
    notebook, solved = copy.deepcopy(release), {grade_id(one): one.source for one in source.cells}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            answer = ANSWERS[student].get(grade_id(cell), solved[grade_id(cell)])
            cell.source = cell.source if answer is None else answer
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        nbformat.write(notebook, Path(folder, f"{LAB}.ipynb"))
        NotebookClient(notebook, timeout=600, allow_errors=True, resources=resources).execute()
    return notebook


def grade_id(cell: Any) -> str | None:
    """Return the name that nbgrader has for a cell."""
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


def main(course: Path, downloads: Path | None = None) -> None:
    """Do the lab, or check the points."""
    if downloads is None:
        with (course / "grades.csv").open(encoding="utf-8", newline="") as file:
            found = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
        assert found == POINTS, f"Expected {POINTS}, found {found}."
        return
    source, release = (
        nbformat.read(course / kind / LAB / f"{LAB}.ipynb", 4) for kind in ("source", "release")
    )
    for student in ANSWERS:
        place = downloads / student / f"{LAB}.ipynb"
        place.parent.mkdir(parents=True)
        nbformat.write(handed_in(student, release, source), place)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
