"""The physical footprint of this process on macOS, which Activity Monitor shows as its memory.

macOS's resident set may leave out Metal's buffers, and it counts shared files. The footprint counts the
memory that drivers map for the process (IOKit), and also what the system has compressed (the comment
"Physical footprint" in osfmk/kern/task.c). Both figures are counters of the kernel's, so a call goes over
the process's threads but not over its memory (fill_task_rusage and task_power_info_locked in osfmk/kern).

Written from Apple's public source, xnu-11417.101.15: bsd/sys/resource.h has the structures, libproc.h the
function, bsd/kern/kern_resource.c what each flavor fills in. Not yet run on a Mac, so the time that a call
takes is not known; the sampler limits it (`sampler.SHARE`).
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from jupyter_mlgpu.record.sentence import say

SOURCE = say("physical footprint (proc_pid_rusage)")

_LIBRARY = "/usr/lib/libSystem.B.dylib"
#: RUSAGE_INFO_V0, the flavor with the least work, and RUSAGE_INFO_V4, the first with the highest footprint.
_V0, _V4 = 0, 4


class _Usage(ctypes.Structure):
    """`struct rusage_info_v4`, of which `struct rusage_info_v0` is the beginning."""

    _fields_ = (
        ("ri_uuid", ctypes.c_uint8 * 16),
        # User and system time, two counts of wakeups, pageins, wired size, resident size.
        ("before_footprint", ctypes.c_uint64 * 7),
        ("ri_phys_footprint", ctypes.c_uint64),
        # From ri_proc_start_abstime to ri_logical_writes.
        ("between", ctypes.c_uint64 * 20),
        ("ri_lifetime_max_phys_footprint", ctypes.c_uint64),
        # From ri_instructions to ri_runnable_time.
        ("after", ctypes.c_uint64 * 6),
    )


class Footprint:
    """The footprint of this process. Raises OSError on other systems."""

    # PyDLL keeps the GIL: the call is short, and to get the GIL back may take milliseconds.
    def __init__(self, load: Callable[[str], Any] = ctypes.PyDLL) -> None:
        try:
            self._rusage = load(_LIBRARY).proc_pid_rusage
        except AttributeError as error:
            raise OSError("no proc_pid_rusage") from error
        self._rusage.restype = ctypes.c_int
        self._rusage.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_void_p)

    def read(self) -> int:
        """Return the footprint now, in bytes. Raises OSError."""
        return int(self._usage(_V0).ri_phys_footprint)

    def highest(self) -> int:
        """Return the highest footprint since the process began, in bytes; exact. Raises OSError."""
        return int(self._usage(_V4).ri_lifetime_max_phys_footprint)

    def _usage(self, flavor: int) -> _Usage:
        usage = _Usage()
        if self._rusage(os.getpid(), flavor, ctypes.byref(usage)) != 0:
            raise OSError("proc_pid_rusage refused")
        return usage


@cache
def footprint() -> Footprint | None:
    """Return the footprint of this process, None if the system does not report it."""
    if sys.platform != "darwin":
        return None
    try:
        found = Footprint()
        found.highest()
    except OSError:
        return None
    return found
