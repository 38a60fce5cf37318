"""Memory of this process that is in the machine's RAM."""

from __future__ import annotations

import os

from jupyter_mlgpu.record.sentence import Sentence, say

STATM = "/proc/self/statm"


def resident_set() -> tuple[int, Sentence]:
    """Memory of this process that is in the machine's RAM now, in bytes, and where the figure is from.

    On Linux the second number of /proc/self/statm, in pages (proc(5)), which the kernel counts in batches:
    a few hundred kB may not be in it yet.
    """
    try:
        with open(STATM, "rb", buffering=0) as file:
            return resident_in(file.read()), Sentence(STATM)
    except OSError:  # not Linux
        import psutil

        return int(psutil.Process().memory_info().rss), say("psutil resident set")


def resident_in(statm: bytes) -> int:
    """The resident set in bytes, of the text of /proc/self/statm; raises IndexError where it is none."""
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
