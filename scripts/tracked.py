"""The files of the checkout that git tracks, so that what a user keeps beside them changes no verdict."""

from __future__ import annotations

import functools
import os
import subprocess
from pathlib import Path


def tracked(folder: Path, pattern: str) -> list[Path]:
    """Return the files in a folder that match a glob pattern and that git tracks, sorted.

    A file that was added to the index counts, one that is no longer there does not. Where git is missing or
    tracks nothing in the folder, as in an unpacked source distribution, all files that match are returned.
    """
    names = _tracked_in(folder)
    return sorted(
        path for path in folder.glob(pattern) if path.is_file() and (names is None or path in names)
    )


@functools.cache
def _tracked_in(folder: Path) -> frozenset[Path] | None:
    """None where git does not know."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=folder, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    names = os.fsdecode(listed.stdout).split("\0")
    # git lists nothing in a source distribution that was unpacked in a checkout of another project.
    return frozenset(folder / name for name in names if name) or None
