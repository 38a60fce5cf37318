"""Write a file whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

from jupyter_mlgpu.errors import MlgpuError


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` into a file in one step; a file already there keeps its permissions, and a link its target.

    Raises MlgpuError, naming the path, where it cannot be written; the old file is then as it was.
    """
    target = path.resolve()
    temporary = None
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _permissions(target))
        os.replace(temporary, target)
    except OSError as error:
        if temporary is not None:
            Path(temporary).unlink(missing_ok=True)
        raise MlgpuError(
            f"{path} cannot be written ({error.strerror or error}); "
            "choose a folder you may write to, with room in it."
        ) from error


def _permissions(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
