"""Whether notebooks are trusted: the kernel's own one, or those of the current folder.

A notebook is trusted where its signature stands in the data base that nbformat keeps. nbformat itself is not
asked: importing it takes two seconds, asking it writes into the data base, and where there is no secret to
sign with it makes one.
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

#: Of a folder's notebooks the newest ones, and of none more than these bytes.
MOST = 20
MOST_BYTES = 10_000_000
#: NotebookNotary.algorithm, unless Jupyter is configured otherwise.
_ALGORITHM = "sha256"
#: What JupyterLab shows of an untrusted notebook only in part, or not at all.
_RICH = ("text/html", "application/javascript", "image/svg+xml")


def read() -> tuple[Notebook, ...]:
    """Notebooks with what is known of their trust."""
    # jupyter_server names the notebook to the kernels that it starts for one.
    own = Path(os.environ.get("JPY_SESSION_NAME", ""))
    files = [own] if own.suffix == ".ipynb" and own.is_file() else newest(Path.cwd())
    return tuple(notebook(file) for file in files)


def newest(folder: Path) -> list[Path]:
    """The notebooks of a folder that were changed last."""
    found = [one for one in folder.glob("*.ipynb") if one.is_file()]
    return sorted(found, key=lambda one: one.stat().st_mtime, reverse=True)[:MOST]


def notebook(file: Path) -> Notebook:
    """One notebook."""
    text = fact(lambda: _text(file))
    if isinstance(text, Unknown):
        return Notebook(file.name, text, text)
    return Notebook(file.name, fact(lambda: trusted(text, _data())), fact(lambda: rich(text)))


def rich(text: str) -> bool:
    """Whether an output would be shown otherwise in a trusted notebook."""
    outputs = (one for cell in json.loads(text).get("cells", ()) for one in cell.get("outputs", ()))
    return any(kind in one.get("data", {}) for one in outputs for kind in _RICH)


def trusted(text: str, data: Path) -> bool:
    """Whether a notebook's signature is known; `data` is Jupyter's data folder."""
    secret, signatures = data / "notebook_secret", data / "nbsignatures.db"
    if not secret.exists() or not signatures.exists():
        return False
    wanted = (_ALGORITHM, signature(text, secret.read_bytes()))
    with closing(sqlite3.connect(f"{signatures.absolute().as_uri()}?mode=ro", uri=True)) as base:
        question = "SELECT 1 FROM nbsignatures WHERE algorithm = ? AND signature = ?"
        return base.execute(question, wanted).fetchone() is not None


def signature(text: str, secret: bytes) -> str:
    """What nbformat's NotebookNotary.compute_signature gives for a notebook of format 4.

    An HMAC over every key, sorted, and every value in turn, without what is not kept in files
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
