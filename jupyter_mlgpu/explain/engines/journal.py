"""The journals of engines: if an engine is killed, its records and its last cell are still there.

Every engine appends to a file of its own. When a cell begins, it adds a record without figures, which the
record of the finished cell replaces. The files of a cluster are in one folder in the user's runtime folder of
Jupyter. The folder is named by a digest of the key that signs the cluster's messages: engines and clients
know the key, and no other cluster has the same. So journals are found on the same machine, and on machines
that share that folder.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import Journal, load_records
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.visible import visible_line

#: The reason why a cell's record has no figures.
UNFINISHED = say("The engine died in this cell, or had not ended it when this was read.")

#: Days without an addition after which a journal is removed, and the most bytes of a journal.
_KEPT_DAYS = 7
_MOST_BYTES = 50_000_000


def folder(key: object) -> Path | None:
    """Return the folder of a cluster's journals, or None without its key or without Jupyter."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    if not isinstance(key, bytes) or not key:
        return None
    return Path(jupyter_runtime_dir()) / "jupyter_mlgpu_engines" / hashlib.sha256(key).hexdigest()[:16]


class EngineJournal:
    """The journal of one engine. Raises RecordError if it cannot be written."""

    def __init__(self, where: Path, engine: int, run: str) -> None:
        self._path = where / f"{engine}-{run}.jsonl"
        try:
            where.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_old(where.parent)
        except OSError as error:
            raise RecordError(
                f"{visible_line(where)} cannot be written ({error.strerror or error})."
            ) from error
        self._journal = Journal(self._path)

    def append(self, record: Record) -> None:
        """Add a record of a finished cell, or the one of a cell that has begun."""
        if self._path.exists() and self._path.stat().st_size > _MOST_BYTES:
            raise RecordError(
                f"{visible_line(self._path)} has reached its limit of {_MOST_BYTES // 1_000_000} MB."
            )
        self._journal.append(record)

    def clear(self) -> None:
        """Delete all records."""
        self._path.unlink(missing_ok=True)


def is_unfinished(record: Record) -> bool:
    """Return True if it is the record of a cell that had only begun."""
    return record.reading("wall_time").why_missing == UNFINISHED


def read(where: Path | None, engine: int) -> list[Record]:
    """Return the records of an engine's journals in the order of their starts; empty if there are none."""
    found: list[Record] = []
    for path in [] if where is None else sorted(where.glob(f"{engine}-*.jsonl")):
        try:
            # The last line of a killed process may be incomplete: only this line is lost.
            found += load_records(path)[0]
        except RecordError:
            continue
    return found


def engines(where: Path | None) -> set[int]:
    """Return the numbers of the engines that have a journal."""
    names = [] if where is None else [path.name.split("-")[0] for path in where.glob("*-*.jsonl")]
    return {int(name) for name in names if name.isdecimal()}


def _remove_old(root: Path) -> None:
    oldest = real_time.time() - _KEPT_DAYS * 24 * 3600
    for cluster in root.iterdir():
        if all(path.stat().st_mtime < oldest for path in (cluster, *cluster.iterdir())):
            shutil.rmtree(cluster, ignore_errors=True)
