"""What a notebook that was run says of itself: how its checks ended, and how long its cells computed."""

from __future__ import annotations

from collections.abc import Iterator

from nbformat import NotebookNode

from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts.bundle import MIME_TYPE

#: Seconds that the cells of a lesson may take on two cores of a processor.
MOST_SECONDS = 180

#: What each verdict of `check` begins with.
VERDICTS = {"✓ Right.": "right", "○ Still open.": "open", "✗ Not yet.": "wrong"}


def verdicts(notebook: NotebookNode) -> list[str]:
    """How each check of the notebook ended: right, open or wrong."""
    texts = [output.data.get("text/plain", "") for _, output in outputs(notebook) if "data" in output]
    firsts = [text.partition("\n")[0] for text in texts]
    return [VERDICTS[first] for first in firsts if first in VERDICTS]


def records(notebook: NotebookNode) -> list[Record]:
    """The records of the receipts, in the order of the cells."""
    data = [output.data[MIME_TYPE] for _, output in outputs(notebook) if MIME_TYPE in output.get("data", {})]
    return [Record.from_json(one) for one in data]


def seconds(notebook: NotebookNode) -> float:
    """How long the cells computed: their wall time together, or their CPU time where that is less.

    On a busy machine a lesson waits without computing.
    """
    return min(_sum(notebook, "wall_time"), _sum(notebook, "cpu_time"))


def _sum(notebook: NotebookNode, quantity: str) -> float:
    return sum(one.value or 0 for record in records(notebook) for one in record.readings
               if one.quantity == quantity)  # fmt: skip


def outputs(notebook: NotebookNode) -> Iterator[tuple[str, NotebookNode]]:
    """Each output, with the id of its cell."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            yield cell.id, output
