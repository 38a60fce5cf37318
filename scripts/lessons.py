"""Runs notebooks and saves their outputs in them: `make lessons`.

Standard error is left out of what is saved: it holds what native libraries log, which differs from
machine to machine. A cell that fails stops the run, and its notebook is left as it was. So is a notebook in
which only the receipts' figures would change, for no two runs take equally long; to save new figures,
remove the old ones first with `jupyter mlgpu strip`.
"""

from __future__ import annotations

import copy
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from jupyter_mlgpu.record import Record
from jupyter_mlgpu.render.bundle import MIME_TYPE, bundle

#: All that a lesson says of where it runs: any Python 3 kernel will do.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def refresh(path: Path) -> bool:
    """Run the notebook at `path` and save its outputs in it; returns whether the file was written."""
    saved = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    notebook = run(saved, path)
    if without_figures(notebook) == without_figures(saved):
        return False
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]
    return True


def run(saved: NotebookNode, path: Path) -> NotebookNode:
    """The notebook with the outputs of a run in a kernel of its own, without its standard error."""
    notebook = copy.deepcopy(saved)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    client.execute(
        stderr=subprocess.DEVNULL,  # native output that the variable below keeps out of the cells
        env={
            **os.environ,
            # As under nbval: with this variable set, ipykernel leaves native output out of the cells.
            "PYTEST_CURRENT_TEST": "lessons",
            "JPY_SESSION_NAME": path.name,  # as in JupyterLab: receipts name their notebook
        },
    )
    notebook.metadata.update(METADATA)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    return notebook


def without_figures(notebook: NotebookNode) -> NotebookNode:
    """The notebook with each receipt replaced by a mark: equal for two runs that show the same besides.

    A receipt that would look otherwise today has a mark of its own, so that it is made anew.
    """
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if MIME_TYPE in output.get("data", {}):
                output.data = {MIME_TYPE: "a receipt" if _of_today(output.data) else "an older receipt"}
    return notebook


def _of_today(data: NotebookNode) -> bool:
    return bundle(Record.from_json(data[MIME_TYPE])) == data


def main(names: Sequence[str]) -> int:
    """Run and save each notebook named."""
    for name in names:
        start = time.monotonic()
        what = "saved" if refresh(Path(name)) else "nothing but figures would change, left as it was"
        print(f"    {name}: {what}, {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
