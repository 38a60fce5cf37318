"""The notebooks in a folder that others have filled: regular files alone, and no link is followed.

A link in a hand-in may lead to the teacher's own files, or to another student's; a FIFO waits for its writer.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

#: Why something is left out: what follows its name in a sentence.
LINK = "is a link, and links in what was handed in are not followed"
_NO_FILE = "is no regular file"


def notebooks(root: Path) -> Iterator[tuple[Path, str | None]]:
    """Each notebook below a folder, in order, and why it is not to be read, None where it is.

    Folders that are links, and those that cannot be read, are among them. Hidden ones are not.
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


def why_not(path: Path) -> str | None:
    """Why what stands there is not to be read; None for a regular file."""
    try:
        kind = os.lstat(path).st_mode
    except OSError as error:
        return f"cannot be read ({error.strerror or error})"
    if stat.S_ISLNK(kind):
        return LINK
    return None if stat.S_ISREG(kind) else _NO_FILE
