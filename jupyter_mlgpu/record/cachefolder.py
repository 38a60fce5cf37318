"""The user's cache folder for files that can be made again: a lesson's arrays, this machine's peak rates."""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: Environment variable that names another folder, for a class that shares one folder, or for tests.
VARIABLE = "JUPYTER_MLGPU_CACHE"


def folder() -> Path:
    """Return the path of the cache folder. The folder may not exist yet."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jupyter_mlgpu"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jupyter_mlgpu"
