"""The user's own folder for what programs can make again: arrays of a lesson, this machine's roofs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

#: Names another folder, for a class that shares one, or for tests.
VARIABLE = "JUPYTER_MLGPU_CACHE"


def folder() -> Path:
    """Where this system keeps such things; the folder need not be there."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jupyter_mlgpu"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jupyter_mlgpu"
