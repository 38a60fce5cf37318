"""The command that installs this package into another environment, from the source of this copy."""

from __future__ import annotations

import json
import shlex
import urllib.parse
from importlib import metadata
from pathlib import Path
from typing import Any


def install_line() -> str:
    """Return `pip install ...` for a shell. With a `%` before it, it works in a cell."""
    try:
        text = metadata.distribution("jupyter_mlgpu").read_text("direct_url.json")
        source = _source(json.loads(text or "{}"))
    except (metadata.PackageNotFoundError, OSError, ValueError, LookupError, TypeError, AttributeError):
        source = ""  # a copy that is only on sys.path, or a file that another tool wrote in its own way
    return f"pip install {source or 'jupyter_mlgpu'}"


def _source(direct: dict[str, Any]) -> str:
    """Return pip's argument for the source that a direct_url.json describes (its format: PEP 610).

    Empty after an installation from an index, and if the file or folder no longer exists.
    """
    url = direct.get("url", "")
    if "vcs_info" in direct:
        vcs = direct["vcs_info"]
        return shlex.quote(f"{vcs['vcs']}+{url}@{vcs['commit_id']}")
    parts = urllib.parse.urlsplit(url)
    if parts.scheme != "file":
        return shlex.quote(url) if url else ""
    path = urllib.parse.unquote(parts.path)
    editable = "-e " if direct.get("dir_info", {}).get("editable") else ""
    return editable + shlex.quote(path) if Path(path).exists() else ""
