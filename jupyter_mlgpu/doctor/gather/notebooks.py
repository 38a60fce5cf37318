"""Whether notebooks are trusted: the kernel's own one, or those of the current folder.

A notebook is trusted where its signature stands in the data base that nbformat keeps. A signature needs
nbformat's secret; where there is none yet, nothing was ever signed, and none is made here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from jupyter_mlgpu.doctor.facts import Notebook
from jupyter_mlgpu.doctor.gather.tools import fact

#: Of a folder's notebooks the newest ones, and of none more than these bytes.
MOST = 20
MOST_BYTES = 10_000_000
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
    content = fact(lambda: _content(file))
    if not isinstance(content, dict):
        return Notebook(file.name, content, content)
    return Notebook(file.name, fact(lambda: _trusted(content)), fact(lambda: rich(content)))


def rich(content: dict[str, Any]) -> bool:
    """Whether an output would be shown otherwise in a trusted notebook."""
    outputs = (one for cell in content.get("cells", ()) for one in cell.get("outputs", ()))
    return any(kind in one.get("data", {}) for one in outputs for kind in _RICH)


def _content(file: Path) -> dict[str, Any]:
    import nbformat

    if file.stat().st_size > MOST_BYTES:
        raise OSError(f"it is larger than {MOST_BYTES // 1_000_000} MB")
    content: dict[str, Any] = nbformat.reads(file.read_text(encoding="utf-8"), as_version=4)  # type: ignore[no-untyped-call]
    return content


def _trusted(content: dict[str, Any]) -> bool:
    from jupyter_core.paths import jupyter_data_dir
    from nbformat.sign import NotebookNotary

    data = Path(jupyter_data_dir())
    if not (data / "notebook_secret").exists() or not (data / "nbsignatures.db").exists():
        return False
    return bool(NotebookNotary(data_dir=str(data)).check_signature(content))  # type: ignore[no-untyped-call]
