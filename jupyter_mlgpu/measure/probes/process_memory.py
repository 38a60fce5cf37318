"""The memory of this process: on macOS its physical footprint, elsewhere its resident set."""

from __future__ import annotations

import os

from jupyter_mlgpu.measure.probes import footprint
from jupyter_mlgpu.measure.probes.systemfile import read_once
from jupyter_mlgpu.record.sentence import Sentence, say

STATM = "/proc/self/statm"


def process_memory() -> tuple[int, Sentence]:
    """Return the memory of this process, in bytes, and the source of the figure.

    On Linux this is the second number of /proc/self/statm, in pages (proc(5)). The kernel counts in batches:
    a few hundred kB may be missing.
    """
    try:
        return resident_in(read_once(STATM, 128)), Sentence(STATM)
    except OSError:  # not Linux
        known = footprint.footprint()
        if known is not None:
            return known.read(), footprint.SOURCE
        import psutil

        return int(psutil.Process().memory_info().rss), say("psutil resident set")


def resident_in(statm: bytes) -> int:
    """Return the resident set in bytes from the text of /proc/self/statm. Raises IndexError without it."""
    return int(statm.split()[1]) * os.sysconf("SC_PAGE_SIZE")
