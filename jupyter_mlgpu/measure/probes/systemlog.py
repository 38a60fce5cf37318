"""What Linux's own log says of a process that ended: that it was killed for want of memory, or crashed.

The log is /dev/kmsg (Documentation/ABI/testing/dev-kmsg), which many machines show to the administrator
alone. The lines are those of mm/oom_kill.c, and of arch/x86/mm/fault.c and arch/x86/kernel/traps.c.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.record.clock import real_time

_LOG = Path("/dev/kmsg")
#: Records that are read, the longest of which has 8 kB.
_RECORDS, _RECORD = 100_000, 8 * 1024
#: Seconds by which the log's clock and the system's may differ.
_APART = 5.0
_MICROSECONDS = re.compile(rb"\d+,\d+,(\d+),")


def names(pid: int, since: float, status: int | None, log: Path = _LOG) -> bool:
    """Whether the log has said, after `since` (s, Unix), that this process ended so.

    `status` is its exit status: of one killed (or of which that is not known), whether it was for want of
    memory; of one that crashed, whether the processor refused what it did. False where the log may not be
    read, and in a container whose process ids are not the machine's.
    """
    if sys.platform != "linux" or not memory.sees_the_machines_processes():
        return False
    if status in (None, -signal.SIGKILL):
        said = re.compile(rb"Killed process %d \(" % pid)
    else:
        said = re.compile(rb"\[%d\]:? (?:segfault at|trap |general protection)" % pid)
    earliest = real_time.monotonic() - (real_time.time() - since) - _APART
    try:
        descriptor = os.open(log, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        for _ in range(_RECORDS):
            try:
                record = os.read(descriptor, _RECORD)
            except BlockingIOError:  # that was the newest
                return False
            except OSError:  # a record was overwritten before it was read
                continue
            if not record:
                return False
            at = _MICROSECONDS.match(record)
            if at is not None and said.search(record) and int(at[1]) / 1e6 >= earliest:
                return True
        return False
    finally:
        os.close(descriptor)
