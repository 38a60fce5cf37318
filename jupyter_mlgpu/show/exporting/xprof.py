"""Writes the frameworks' own profiles as a folder that XProf and TensorBoard's profile plug-in open.

They look for `plugins/profile/RUN/HOST.xplane.pb`. The profiles of TensorFlow and JAX are written unchanged,
so these tools show the same as for a profile that was taken without this package.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.ops.events import CUT, Profile
from jupyter_mlgpu.record import cellnumbers
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.files import write_atomically
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.exporting.timeline import Find

_GONE = "the bytes of this profile were let go, to bound memory: run the cell once more with --ops."


def write(folder: Path, records: Sequence[Record], profiles: Find) -> tuple[list[Path], list[str]]:
    """Write every available profile. Return the files, and a sentence for each missing profile.

    Each profile is a run of its own, named by its cell and framework. The host is named by its digest. Raises
    RecordError if a file cannot be written, or if there is nothing to write.
    """
    written: list[Path] = []
    missing: list[str] = []
    for record in records:
        for profile in profiles(record.key):
            cell = f"cell {cellnumbers.name(record)}, {profile.framework}"
            if profile.xspace is None:
                missing.append(f"Not written, {cell}: {_why(profile)}")
                continue
            run = f"{record.run.id[:8]}_{_file_name(record)}_{profile.framework}"
            path = folder / "plugins" / "profile" / run / f"{record.run.host_digest}.xplane.pb"
            write_atomically(path, profile.xspace)
            written.append(path)
            if CUT in (profile.why_left_out or ""):
                missing.append(f"Of {cell}, events are left out: {CUT}.")
    if not written:
        raise RecordError(" ".join(missing) or NOTHING)
    return written, missing


NOTHING = "There is no profile to write: run a cell with `%%mlc_trace --ops` as its first line, then export."


def _file_name(record: Record) -> str:
    """Return a record's number for use in a file name. The sequence number distinguishes runs of one cell."""
    count = record.cell.execution_count
    cell = "" if count is None else f"cell_{count:04d}_"
    return f"{cell}record_{record.cell.sequence:04d}"


def _why(profile: Profile) -> str:
    known = registry.FRAMEWORKS.keys() & {profile.framework}
    return (registry.framework(profile.framework).why_no_xspace if known else "") or _GONE
