"""Reads if notebooks are trusted: the kernel's own, or those of the current folder.

A notebook is trusted if its signature is in nbformat's data base. nbformat itself is not used: importing it
takes two seconds, its query writes to the data base, and it creates a secret if there is none.
"""

from __future__ import annotations

import hmac
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from jupyter_mlgpu.explain.doctor.facts import Notebook
from jupyter_mlgpu.explain.doctor.gather.tools import fact
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.record.sentence import say

#: Most notebooks of a folder, newest first, and most bytes of one.
MOST = 20
MOST_BYTES = 10_000_000
#: NotebookNotary.algorithm, unless Jupyter is configured otherwise.
_ALGORITHM = "sha256"
#: Output types that JupyterLab shows only in part, or not at all, in an untrusted notebook.
_RICH = ("text/html", "application/javascript", "image/svg+xml")


def read() -> tuple[Notebook, ...]:
    """Return the notebooks and if they are trusted."""
    # jupyter_server sets this variable in kernels that it starts for a notebook.
    own = Path(os.environ.get("JPY_SESSION_NAME", ""))
    files = [own] if own.suffix == ".ipynb" and own.is_file() else newest(Path.cwd())
    return tuple(notebook(file) for file in files)


def newest(folder: Path) -> list[Path]:
    """Return the notebooks of a folder that were changed last."""
    found = [one for one in folder.glob("*.ipynb") if one.is_file()]
    return sorted(found, key=lambda one: one.stat().st_mtime, reverse=True)[:MOST]


def notebook(file: Path) -> Notebook:
    """Return the facts about one notebook."""
    text = fact(lambda: _text(file))
    if isinstance(text, Unknown):
        return Notebook(file.name, text, text)
    return Notebook(file.name, fact(lambda: trusted(text, _data())), fact(lambda: rich(text)))


def rich(text: str) -> bool:
    """Return True if an output looks different in a trusted notebook."""
    outputs = (one for cell in json.loads(text).get("cells", ()) for one in cell.get("outputs", ()))
    return any(kind in one.get("data", {}) for one in outputs for kind in _RICH)


def trusted(text: str, data: Path) -> bool:
    """Return True if a notebook's signature is in the data base; `data` is Jupyter's data folder."""
    secret, signatures = data / "notebook_secret", data / "nbsignatures.db"
    if not secret.exists() or not signatures.exists():
        return False
    key = (_ALGORITHM, signature(text, secret.read_bytes()))
    with closing(sqlite3.connect(f"{signatures.absolute().as_uri()}?mode=ro", uri=True)) as database:
        query = "SELECT 1 FROM nbsignatures WHERE algorithm = ? AND signature = ?"
        return database.execute(query, key).fetchone() is not None


def signature(text: str, secret: bytes) -> str:
    """Return the signature that nbformat's NotebookNotary.compute_signature computes, for format 4.

    It is an HMAC over every key, sorted, and every value in turn, without transient data
    (nbformat.v4.rwbase.strip_transient). A text that is split into lines gives the same bytes.
    """
    content = json.loads(text)
    if content["nbformat"] != 4:
        raise ValueError(say("the notebook has format {format}", format=str(content["nbformat"])))
    for name in ("orig_nbformat", "orig_nbformat_minor", "signature"):
        content["metadata"].pop(name, None)
    for cell in content["cells"]:
        cell["metadata"].pop("trusted", None)
    digest = hmac.new(secret, digestmod=_ALGORITHM)
    for piece in _pieces(content):
        digest.update(piece.encode())
    return digest.hexdigest()


def _pieces(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key in sorted(value):
            yield key
            yield from _pieces(value[key])
    elif isinstance(value, list):
        for one in value:
            yield from _pieces(one)
    else:
        yield str(value)


def _data() -> Path:
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir())


def _text(file: Path) -> str:
    if file.stat().st_size > MOST_BYTES:
        raise OSError(say("it is larger than {size} MB", size=MOST_BYTES // 1_000_000))
    return file.read_text(encoding="utf-8")
