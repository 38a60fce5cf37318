"""A course in a folder, and what students hand in to it."""

from __future__ import annotations

import asyncio
import copy
import csv
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_mlgpu.jupyter.cli import main

#: On another system than Linux there is another sandbox, or grading refuses.
needs_a_sandbox = pytest.mark.skipif(
    sys.platform == "linux" and shutil.which("bwrap") is None,
    reason="labs are graded in bubblewrap, which is not here (`apt install bubblewrap`)",
)

LABS = Path(__file__).resolve().parents[3] / "notebooks" / "labs" / "source"
Notebook = Any


class Course:
    """A folder with one lab's source; commands are those of `jupyter mlgpu class`."""

    def __init__(self, folder: Path, lab: str) -> None:
        self.folder, self.lab = folder, lab
        self.inbox = folder.parent / "inbox"
        self.status: int | None = None
        shutil.copytree(LABS / lab, folder / "source" / lab)

    def command(self, name: str, *words: str) -> int:
        """`jupyter mlgpu class NAME` over this course and lab; returns its exit status."""
        return main(["class", name, str(self.folder), "--lab", self.lab, *words])

    def source(self) -> Notebook:
        return nbformat.read(self.folder / "source" / self.lab / f"{self.lab}.ipynb", 4)

    def release(self) -> Notebook:
        """What students get."""
        return nbformat.read(self.folder / "release" / self.lab / f"{self.lab}.ipynb", 4)

    def hand_in(self, student: str, notebook: Notebook) -> None:
        path = self.inbox / student / f"{self.lab}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)

    def run(self, notebook: Notebook) -> Notebook:
        """The notebook after a student has run and saved it, with its receipts."""
        folder = self.folder.parent / "desk"
        folder.mkdir(exist_ok=True)
        run = copy.deepcopy(notebook)
        client = NotebookClient(
            run, timeout=600, allow_errors=True, resources={"metadata": {"path": str(folder)}}
        )
        asyncio.run(client.async_execute())
        return run

    def points(self) -> dict[str, float]:
        """Each student's points, as grades.csv has them."""
        return {student: float(score) for student, score in self.column("score").items()}

    def column(self, name: str) -> dict[str, str]:
        """A column of grades.csv, by student."""
        with (self.folder / "grades.csv").open(encoding="utf-8", newline="") as file:
            return {row["student_id"]: row[name] for row in csv.DictReader(file)}

    def autograded(self, student: str) -> Notebook:
        """A submission with what came out when it was graded."""
        return nbformat.read(self.folder / "autograded" / student / self.lab / f"{self.lab}.ipynb", 4)

    def feedback(self, student: str) -> str:
        return (self.folder / "feedback" / student / self.lab / f"{self.lab}.html").read_text("utf-8")


def cell(notebook: Notebook, name: str) -> Any:
    """The cell with this id of nbgrader's."""
    return next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == name)


def solved(release: Notebook, source: Notebook) -> Notebook:
    """What a student made of the release who has every answer right."""
    answered = copy.deepcopy(release)
    for one in answered.cells:
        if one.metadata.get("nbgrader", {}).get("solution"):
            one.source = cell(source, one.metadata.nbgrader.grade_id).source
    return answered


# Right numbers, but each operation as often as it is taken.
WITHOUT_A_PLAN = """
def run_graph(graph, inputs, wanted, operations=OPERATIONS):
    if wanted in inputs:
        return inputs[wanted]
    operation, *sources = graph[wanted]
    return operations[operation](*(run_graph(graph, inputs, source, operations) for source in sources))
"""
