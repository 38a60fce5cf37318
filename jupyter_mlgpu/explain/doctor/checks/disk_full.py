"""On a full disk, installations, downloads and saving notebooks fail; a full /tmp affects only installations.

Sources: pypa/pip#7745 and #5816 ("No space left on device"), dnschneid/crouton#4280 (TMPDIR elsewhere
helped).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.sizes import GIB, gigabytes
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("The disks have free space")
_NEEDED = GIB


def judge(facts: Facts) -> Verdict:
    """Return a finding if less than 1 GiB is free in the current, the home or the temporary folder."""
    storage = facts.storage
    free = {
        say("this folder"): known(storage.here_free),
        say("the home folder"): known(storage.home_free),
        say("the temporary folder"): known(storage.temporary_free),
    }
    full = {place: size for place, size in free.items() if size < _NEEDED}
    if not full:
        return Fine(say("At least {size} is free.", size=gigabytes(min(free.values()))))
    only_temporary = list(full) == ["the temporary folder"]
    return Finding(
        title=say("A disk is almost full: downloads, installations and saving can fail."),
        evidence=joined(
            *(
                say("{size} is free in {place}.", size=gigabytes(size), place=place)
                for place, size in full.items()
            )
        ),
        remedy=as_written('mkdir -p ~/tmp\nexport TMPDIR="$HOME/tmp"')
        if only_temporary
        else as_written("df -h . ~\npip cache purge"),
        confidence="sure",
        cause=Cause.MACHINE,
    )
