"""Search for notebooks in a folder that others have filled: regular files only, without following links.

A link in a submission may lead to the teacher's own files or to another student's. Reading a FIFO would
block.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

#: The reason why a link is left out, as the end of a sentence.
LINK = "is a link, and links in what was handed in are not followed"
_NO_FILE = "is no regular file"

_ARCHIVES = frozenset({".7z", ".bz2", ".gz", ".rar", ".tar", ".tgz", ".xz", ".zip"})


def notebooks(root: Path) -> Iterator[tuple[Path, str | None]]:
    """Yield each notebook below a folder in order, with the reason if it must not be read, else None.

    Folders that are links, or that cannot be read, are included. Hidden folders are left out.
    """
    unread: list[tuple[Path, str | None]] = []

    def note(error: OSError) -> None:
        unread.append((Path(error.filename), f"cannot be read ({error.strerror or error})"))

    for place, folders, names in os.walk(root, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        here = Path(place)
        yield from ((here / name, LINK) for name in folders if (here / name).is_symlink())
        for name in sorted(names):
            if name.endswith(".ipynb") and not name.startswith("."):
                yield here / name, why_not(here / name)
    yield from unread


def archives(root: Path) -> list[Path]:
    """Return the archives below a folder, in order, or `root` itself if it is one."""
    paths = sorted(root.rglob("*")) if root.is_dir() else [root]
    return [path for path in paths if path.suffix.lower() in _ARCHIVES]


def why_not(path: Path) -> str | None:
    """Return a reason why a path must not be read, or None for a regular file."""
    try:
        kind = os.lstat(path).st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if stat.S_ISLNK(kind):
        return LINK
    return None if stat.S_ISREG(kind) else _NO_FILE
