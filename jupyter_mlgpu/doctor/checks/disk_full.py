"""A full disk ends installations, downloads and saved notebooks; a small /tmp ends installations alone.

Sources: pypa/pip#7745 and #5816 ("No space left on device"), dnschneid/crouton#4280 (TMPDIR elsewhere
helped).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import as_written
from jupyter_mlgpu.doctor.sizes import GIB, gigabytes

ID = "disk-full"
TITLE = "There is room on the disks"
_NEEDED = GIB


def judge(facts: Facts) -> Verdict:
    """A finding where less than 1 GiB is free in the current, the home or the temporary folder."""
    storage = facts.storage
    free = {
        "this folder": known(storage.here_free),
        "the home folder": known(storage.home_free),
        "the temporary folder": known(storage.temporary_free),
    }
    full = {name: size for name, size in free.items() if size < _NEEDED}
    if not full:
        return Fine(f"At least {gigabytes(min(free.values()))} are free.")
    only_temporary = list(full) == ["the temporary folder"]
    return Finding(
        title="A disk is full: downloads, installations and saving fail.",
        evidence=" ".join(f"{gigabytes(size)} are free in {name}." for name, size in full.items()),
        remedy=as_written('mkdir -p ~/tmp\nexport TMPDIR="$HOME/tmp"')
        if only_temporary
        else as_written("df -h . ~\npip cache purge"),
        confidence="sure",
        cause=Cause.MACHINE,
    )
