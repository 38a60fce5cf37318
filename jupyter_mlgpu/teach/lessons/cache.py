"""Arrays that take minutes to compute, kept in the user's cache folder for a later lesson.

A checksum is stored beside each file. A file that is damaged, or that another program wrote, does not match
its checksum and is not used.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_mlgpu.record import incoming
from jupyter_mlgpu.record.cachefolder import folder
from jupyter_mlgpu.record.errors import RecordError, UsageError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.language import translate
from jupyter_mlgpu.record.sentence import Sentence, say
from jupyter_mlgpu.record.visible import visible_line

#: Largest file that is read, in bytes. The weights of a small BERT take about 20 MB.
MOST_BYTES = 200_000_000


def save(name: str, arrays: Mapping[str, Any]) -> str:
    """Save arrays under a name, and return a sentence that says so or why it failed."""
    import numpy as np

    file = io.BytesIO()
    np.savez(file, **arrays)
    data = file.getvalue()
    path = folder() / f"{name}.npz"
    try:
        # The checksum is written last, so a truncated file never has a matching one.
        write_atomically(path, data)
        write_atomically(_checksum(path), hashlib.sha256(data).hexdigest().encode())
    except RecordError as error:
        why = str(error).replace(
            f"{visible_line(path.parent)}{os.sep}", ""
        )  # outputs are saved: no folder of the user's
        return translate(say("{file} could not be saved: {why}", file=path.name, why=why))
    sentence = say(
        "Saved in your cache folder as {file}, {size} MB, with a checksum.",
        file=path.name,
        size=f"{len(data) / 1e6:.1f}",
    )
    return translate(sentence)


def load(name: str) -> tuple[Mapping[str, Any] | None, Sentence]:
    """Return the arrays saved under a name, and a sentence on their source; None if there are none."""
    import numpy as np

    path = folder() / f"{name}.npz"
    try:
        data = incoming.read_bytes(path, most=MOST_BYTES, what="kept arrays")
        wanted = incoming.read_bytes(_checksum(path), most=1_000, what="a checksum").decode("ascii").strip()
    except (UsageError, UnicodeDecodeError):
        return None, say("There is no {file} in your cache folder.", file=path.name)
    if hashlib.sha256(data).hexdigest() != wanted:
        damaged = say(
            "{file} in your cache folder is damaged (its checksum does not match), so it is not used.",
            file=path.name,
        )
        return None, damaged
    with np.load(io.BytesIO(data), allow_pickle=False) as file:
        loaded = say("Loaded from your cache folder: {file}, checksum correct.", file=path.name)
        return {key: file[key] for key in file.files}, loaded


def _checksum(path: Path) -> Path:
    return path.with_suffix(".sha256")
