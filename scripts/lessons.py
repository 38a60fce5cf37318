"""Runs the lessons and saves their outputs: `make lessons`.

For each lesson: the learner's notebook is run; its solutions are built from it and run; and where there is a
catalogue, that is brought up to it, and the translation assembled beside it, in a file that git ignores. With
`--redraw` nothing is run: the receipts are drawn again from the records saved in them, for when the form of a
receipt has changed.

Standard error is left out of what is saved: it holds what native libraries log, which differs from
machine to machine. A cell that fails stops its notebook, which is left as it was; the other notebooks still
run. Left as it was is also a notebook in which only the receipts' figures would change, for no two runs take
equally long; to save new figures, remove the old ones first with `jupyter mlgpu strip`. A run with a receipt
that names other programs as the limit is not saved but repeated. One notebook runs at a time: two would slow
each other.
"""

from __future__ import annotations

import argparse
import copy
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import lesson_catalogues
import lesson_solutions
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from jupyter_mlgpu.record import language
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE, bundle
from jupyter_mlgpu.teach.lessons.assembly import assembled
from jupyter_mlgpu.teach.lessons.data import OFFLINE
from jupyter_mlgpu.teach.lessons.exercises import exercises_of

#: All that a lesson says of where it runs: any Python 3 kernel will do.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: Seconds that the cells of a lesson may take on two cores of a processor.
MOST_SECONDS = 180
#: How often a notebook is run until no receipt names other programs.
MOST_RUNS = 5
#: What each verdict of `check` begins with.
VERDICTS = {"✓ Right.": "right", "○ Still open.": "open", "✗ Not yet.": "wrong"}


class LessonError(Exception):
    """A notebook ran and did not show what it has to; the text says what."""


Errors = (
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
    LessonError,
    lesson_solutions.SolutionError,
)


def refresh(path: Path) -> bool:
    """Run the notebook at `path` and save its outputs in it; returns whether the file was written."""
    return save_run(read(path), path)


def save_run(source: NotebookNode, path: Path, *, checks: str = "open") -> bool:
    """Run `source` and save it at `path`, unless only figures would change; `checks` is what its checks say.

    Raises LessonError, and saves nothing, where a check ended otherwise, the cells took too long, or other
    programs slowed cells in each of `MOST_RUNS` runs.
    """
    for _ in range(MOST_RUNS):
        notebook = run(source, path)
        _judge(notebook, path, checks)
        if not (slowed := slowed_cells(notebook)):
            break
        _tell(f"run again: other programs slowed {', '.join(slowed)}")
    else:
        raise LessonError(f"Other programs slowed its cells in {MOST_RUNS} runs: run it on a quiet machine.")
    _draw_receipts(notebook)
    if path.exists() and without_figures(notebook) == without_figures(read(path)):
        return False
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    return True


def refresh_solutions(lesson: Path) -> bool | None:
    """Build the solutions of a lesson, run and save them; None where it has no exercises."""
    if lesson_solutions.module_of(lesson) is None:
        return None
    path = lesson_solutions.path_of(lesson)
    path.parent.mkdir(exist_ok=True)
    return save_run(lesson_solutions.build(read(lesson), lesson), path, checks="right")


def refresh_translation(lesson: Path) -> bool | None:
    """Bring a lesson's catalogue up to it, and assemble its translation; None where there is no catalogue."""
    catalogue = lesson_catalogues.path_of(lesson)
    if not catalogue.exists():
        return None
    for line in lesson_catalogues.bring_up(catalogue):
        _tell(line)
    path = catalogue.with_suffix(".ipynb")
    path.write_bytes(assembled(lesson.read_bytes(), catalogue, catalogue.parent.name))
    return True


def redraw(path: Path) -> bool:
    """Draw a notebook's receipts again from their records; returns whether the file was written."""
    notebook = read(path)
    before = copy.deepcopy(notebook)
    _draw_receipts(notebook)
    if notebook == before:
        return False
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    return True


def _draw_receipts(notebook: NotebookNode) -> None:
    """Draw each receipt again, until that changes nothing: of a large record, each drawing may cut a part."""
    for output in _outputs(notebook):
        while MIME_TYPE in output.get("data", {}) and (drawn := _drawn(output.data)) != output.data:
            output.data = nbformat.from_dict(drawn)  # type: ignore[no-untyped-call]


def read(path: Path) -> NotebookNode:
    """The notebook at `path`."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    return notebook


def run(saved: NotebookNode, path: Path) -> NotebookNode:
    """The notebook with the outputs of a run in a kernel of its own, without its standard error."""
    notebook = copy.deepcopy(saved)
    client = NotebookClient(
        notebook,
        timeout=600,  # seconds for a cell: on a busy machine it waits
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(
        stderr=subprocess.DEVNULL,  # native output that the variable below keeps out of the cells
        env={
            **os.environ,
            **language.environment(notebook.metadata),
            # As under nbval: with this variable set, ipykernel leaves native output out of the cells.
            "PYTEST_CURRENT_TEST": "lessons",
            "JPY_SESSION_NAME": path.name,  # as in JupyterLab: receipts name their notebook
            OFFLINE: "1",  # the data that every machine has
        },
    )
    notebook.metadata.update(METADATA)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            for output in cell.outputs:
                if output.get("name") == "stderr":
                    _tell(f"left out of the outputs of {cell.id!r}: {_first_line(output.text)}")
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def without_figures(notebook: NotebookNode) -> NotebookNode:
    """The notebook with each receipt replaced by a mark: equal for two runs that show the same besides.

    A receipt that would look otherwise today, or that names other programs, has a mark of its own, so that
    it is made anew.
    """
    notebook = copy.deepcopy(notebook)
    for output in _outputs(notebook):
        if MIME_TYPE in output.get("data", {}):
            output.data = {MIME_TYPE: "a receipt" if _of_today(output.data) else "an older receipt"}
    return notebook


def _of_today(data: NotebookNode) -> bool:
    return _drawn(data) == data and not _is_slowed(Record.from_json(data[MIME_TYPE]))


def _drawn(data: NotebookNode) -> dict[str, object]:
    return bundle(Record.from_json(data[MIME_TYPE]), data[MIME_TYPE].get("cut"))


def verdicts(notebook: NotebookNode) -> list[str]:
    """Return how each check of a notebook ended: right, open or wrong."""
    texts = [output.data.get("text/plain", "") for output in _outputs(notebook) if "data" in output]
    firsts = [text.partition("\n")[0] for text in texts]
    return [VERDICTS[first] for first in firsts if first in VERDICTS]


def slowed_cells(notebook: NotebookNode) -> list[str]:
    """Return the ids of the cells whose receipts name other programs as what limited them."""
    return [cell.id for cell in notebook.cells if any(map(_is_slowed, _records(cell.get("outputs", []))))]


def _is_slowed(record: Record) -> bool:
    return record.limit is not None and record.limit.kind == "contention"


def _records(outputs: list[NotebookNode]) -> list[Record]:
    return [
        Record.from_json(output.data[MIME_TYPE]) for output in outputs if MIME_TYPE in output.get("data", {})
    ]


def seconds(notebook: NotebookNode) -> float:
    """Return how long the cells computed: their wall time together, or their CPU time where that is less.

    On a busy machine a lesson waits without computing.
    """
    readings = [one for record in _records(_outputs(notebook)) for one in record.readings]
    return min(
        sum(one.value or 0 for one in readings if one.quantity == quantity)
        for quantity in ("wall_time", "cpu_time")
    )


def _outputs(notebook: NotebookNode) -> list[NotebookNode]:
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def _judge(notebook: NotebookNode, path: Path, checks: str) -> None:
    if (computed := seconds(notebook)) > MOST_SECONDS:
        raise LessonError(f"It computed for {computed:.0f} s; a lesson may take {MOST_SECONDS} s.")
    module = lesson_solutions.module_of(path)
    asked = 0 if module is None else len(exercises_of(module))
    found = verdicts(notebook)
    if len(found) < asked or any(one != checks for one in found):
        told = ", ".join(found) or "none"
        raise LessonError(
            f"Each of its {asked} exercises should have a check that says {checks}; found: {told}."
        )


def main(arguments: Sequence[str] | None = None) -> int:
    """Refresh each lesson named, or redraw its receipts; the exit status is 1 where one of them failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--redraw", action="store_true", help="draw the receipts again, and run nothing")
    parser.add_argument("lessons", nargs="+", type=Path, help="learner's notebooks")
    asked = parser.parse_args(arguments)
    start = time.monotonic()
    failed = [str(lesson) for lesson in asked.lessons if not _all_of(lesson, redraw_only=asked.redraw)]
    print(f"    {len(asked.lessons)} lessons, {time.monotonic() - start:.0f} s in all", flush=True)
    if failed:
        print(f"    not saved, or not in all its forms: {', '.join(failed)}", flush=True)
    return 1 if failed else 0


def _all_of(lesson: Path, *, redraw_only: bool) -> bool:
    """All forms of one lesson; whether everything went well."""
    solutions = lesson_solutions.path_of(lesson)
    if redraw_only:
        done = [_step(path, redraw, path) for path in (lesson, solutions) if path.exists()]
        return all(done)
    return (
        _step(lesson, refresh, lesson)
        & _step(solutions, refresh_solutions, lesson)
        & _step(lesson_catalogues.path_of(lesson), refresh_translation, lesson)
    )


def _step(path: Path, what: Callable[[Path], bool | None], argument: Path) -> bool:
    start = time.monotonic()
    try:
        written = what(argument)
    except Errors as error:
        print(f"    {path}: failed. {_last_lines(str(error))}", flush=True)
        return False
    if written is not None:
        done = "saved" if written else "nothing but figures would change, left as it was"
        print(f"    {path}: {done}, {time.monotonic() - start:.0f} s", flush=True)
    return True


def _tell(text: str) -> None:
    print(f"        {text}", flush=True)


def _first_line(text: str) -> str:
    return next((line for line in text.splitlines() if line.strip()), "")[:160]


def _last_lines(text: str) -> str:
    return "\n".join(text.strip().splitlines()[-12:])


if __name__ == "__main__":
    sys.exit(main())
