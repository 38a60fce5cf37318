"""What engines write down as they go: of one that is killed, its records are still there, and its last cell.

Every engine appends to a file of its own, and where a cell begins, a record of it without figures: the record
of the cell that has ended takes its place. The files of a cluster lie together in the user's runtime folder
of Jupyter, under the digest of the key that signs the cluster's messages: engines and clients know it, and no
other cluster has the same. So they are found on the same machine, and where machines share that folder.
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

#: Why a cell's record has no figures.
UNFINISHED = say("The engine died in this cell, or had not ended it when this was read.")

#: Days after which a journal that nobody has added to is removed, and bytes that one may have.
_KEPT_DAYS = 7
_MOST_BYTES = 50_000_000


def folder(key: object) -> Path | None:
    """Where the engines of a cluster write; None where nobody knows its key, or Jupyter is not here."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir
    except ImportError:
        return None
    if not isinstance(key, bytes) or not key:
        return None
    return Path(jupyter_runtime_dir()) / "jupyter_mlgpu_engines" / hashlib.sha256(key).hexdigest()[:16]


class EngineJournal:
    """The journal of one engine. Raises RecordError where it cannot be written."""

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
        """Add a record, or what is known of one that has begun."""
        if self._path.exists() and self._path.stat().st_size > _MOST_BYTES:
            raise RecordError(
                f"{visible_line(self._path)} has reached its limit of {_MOST_BYTES // 1_000_000} MB."
            )
        self._journal.append(record)

    def clear(self) -> None:
        """Forget all records."""
        self._path.unlink(missing_ok=True)


def unfinished(record: Record) -> bool:
    """Whether it is the record of a cell that had only begun."""
    return record.reading("wall_time").why_missing == UNFINISHED


def read(where: Path | None, engine: int) -> list[Record]:
    """What an engine has written down, in the order in which it began; empty where there is nothing."""
    found: list[Record] = []
    for path in [] if where is None else sorted(where.glob(f"{engine}-*.jsonl")):
        try:
            # The last line of a process that was killed may be half a line: it costs only itself.
            found += load_records(path)[0]
        except RecordError:
            continue
    return found


def engines(where: Path | None) -> set[int]:
    """The numbers of the engines that have written something down."""
    names = [] if where is None else [path.name.split("-")[0] for path in where.glob("*-*.jsonl")]
    return {int(name) for name in names if name.isdecimal()}


def _remove_old(root: Path) -> None:
    oldest = real_time.time() - _KEPT_DAYS * 24 * 3600
    for cluster in root.iterdir():
        if all(path.stat().st_mtime < oldest for path in (cluster, *cluster.iterdir())):
            shutil.rmtree(cluster, ignore_errors=True)
