"""What took minutes to compute, kept in the user's cache folder for a later lesson, with its checksum.

A file that is damaged, or was made by something else, is not used: the checksum beside it has to fit.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_mlgpu import incoming
from jupyter_mlgpu.errors import RecordError, UsageError
from jupyter_mlgpu.files import write_atomically

#: Weights of a small BERT take some 20 MB.
MOST_BYTES = 200_000_000
#: Names another folder, for a class that shares one, or for tests.
VARIABLE = "JUPYTER_MLGPU_CACHE"


def folder() -> Path:
    """Where it is kept: where this system keeps what programs can make again."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jupyter_mlgpu"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "jupyter_mlgpu"


def keep(name: str, arrays: Mapping[str, Any]) -> str:
    """Keep these arrays under a name; returns a sentence on what came of it, also where the disk is full."""
    import numpy as np

    file = io.BytesIO()
    np.savez(file, **arrays)
    data = file.getvalue()
    path = folder() / f"{name}.npz"
    try:
        # The checksum last: a file that was cut short has none that fits.
        write_atomically(path, data)
        write_atomically(_checksum(path), hashlib.sha256(data).hexdigest().encode())
    except RecordError as error:
        said = str(error).replace(f"{path.parent}{os.sep}", "")  # outputs are saved: no folder of the user's
        return f"{path.name} could not be kept: {said}"
    return f"Kept in your cache folder as {path.name}, {len(data) / 1e6:.1f} MB, with a checksum."


def kept(name: str) -> tuple[Mapping[str, Any] | None, str]:
    """The arrays kept under a name, or None; and a sentence on where they are from, or why there are none."""
    import numpy as np

    path = folder() / f"{name}.npz"
    try:
        data = incoming.read_bytes(path, most=MOST_BYTES, what="kept arrays")
        wanted = incoming.read_bytes(_checksum(path), most=1_000, what="a checksum").decode("ascii").strip()
    except (UsageError, UnicodeDecodeError):
        return None, f"There is no {path.name} in your cache folder."
    if hashlib.sha256(data).hexdigest() != wanted:
        return (
            None,
            f"{path.name} in your cache folder is damaged (its checksum does not fit), and is not used.",
        )
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        return {
            key: file[key] for key in file.files
        }, f"Loaded from your cache folder: {path.name}, checksum right."


def _checksum(path: Path) -> Path:
    return path.with_suffix(".sha256")
