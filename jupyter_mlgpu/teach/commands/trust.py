"""Marks copied lessons as trusted, so that Jupyter shows their saved outputs.

A notebook that Jupyter does not trust is shown without its saved charts, and the doctor reports it. The
lessons come from this package, whose code the user runs anyway.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from jupyter_core.paths import jupyter_data_dir


def trust(notebooks: Iterable[bytes]) -> None:
    """Add the signatures of notebooks in format 4 to Jupyter's data base, as `jupyter trust` does.

    Does nothing if nbformat is not installed, or if Jupyter's data folder cannot be written.
    """
    try:
        from nbformat import from_dict
        from nbformat.sign import NotebookNotary
    except ImportError:  # it comes with JupyterLab
        return
    folder = Path(jupyter_data_dir())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with closing(NotebookNotary(data_dir=str(folder))) as notary:  # type: ignore[no-untyped-call]
            for notebook in notebooks:
                notary.sign(from_dict(json.loads(notebook)))  # type: ignore[no-untyped-call]
    except (OSError, sqlite3.Error):
        return
