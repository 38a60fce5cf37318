"""Searches Linux's kernel log for a process that was killed for want of memory, or that crashed.

The log is /dev/kmsg (Documentation/ABI/testing/dev-kmsg), which many machines show only to the administrator.
The lines are those of mm/oom_kill.c, and of arch/x86/mm/fault.c and arch/x86/kernel/traps.c.
"""

from __future__ import annotations

import os
import re
import signal
import sys
from pathlib import Path

from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.record.clock import real_time
from jupyter_mlgpu.record.flight.exit_report import Named

_LOG = Path("/dev/kmsg")
#: How many records are read, and the size of the longest in bytes.
_RECORDS, _RECORD = 100_000, 8 * 1024
#: Seconds by which the log's clock and the system's may differ.
_APART = 5.0
_MEANS: dict[bytes, Named] = {b"Memory cgroup out": "container", b"Out": "machine", b"": "crash"}
_MICROSECONDS = re.compile(rb"\d+,\d+,(\d+),")


def named_for(pid: int, since: float, status: int | None, log: Path = _LOG) -> Named | None:
    """Return what the log says, after `since` (s, Unix), of this process's end.

    `status` is its exit status. For a process that was killed, or whose status is unknown, the answer is what
    was out of memory; for one that crashed, whether the CPU trapped. Returns None if the log has no such line
    or may not be read, and in a container whose process ids are not the machine's.
    """
    if sys.platform != "linux" or not memory.sees_the_machines_processes():
        return None
    if status in (None, -signal.SIGKILL):
        pattern = re.compile(rb"(Memory cgroup out|Out) of memory[^:]*: Killed process %d \(" % pid)
    else:
        pattern = re.compile(rb"()\[%d\]:? (?:segfault at|trap |general protection)" % pid)
    earliest = real_time.monotonic() - (real_time.time() - since) - _APART
    try:
        descriptor = os.open(log, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        for _ in range(_RECORDS):
            try:
                record = os.read(descriptor, _RECORD)
            except BlockingIOError:  # that was the newest
                return None
            except OSError:  # a record was overwritten before it was read
                continue
            if not record:
                return None
            at, found = _MICROSECONDS.match(record), pattern.search(record)
            if at is not None and found is not None and int(at[1]) / 1e6 >= earliest:
                return _MEANS[found[1]]
        return None
    finally:
        os.close(descriptor)
