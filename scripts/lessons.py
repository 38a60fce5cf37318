"""Runs notebooks and saves their outputs in them: `make lessons`.

Standard error is left out of what is saved: it holds what native libraries log, which differs from
machine to machine. A cell that fails stops the run, and its notebook is left as it was.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def refresh(path: Path) -> None:
    """Run the notebook at `path` and save it with its outputs, without its standard error."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        record_timing=False,
        resources={"metadata": {"path": str(path.parent)}},
    )
    # As under nbval: with this variable set, ipykernel leaves native output out of the cells.
    client.execute(env={**os.environ, "PYTEST_CURRENT_TEST": "lessons"})
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    nbformat.write(notebook, path)  # type: ignore[no-untyped-call]


def main(names: Sequence[str]) -> int:
    """Run and save each notebook named."""
    for name in names:
        start = time.monotonic()
        refresh(Path(name))
        print(f"    {name}: {time.monotonic() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
