"""Number of processes that Linux has killed for want of memory, in a control group or on the machine.

Sources: Linux's Documentation/admin-guide/cgroup-v2.rst (memory.events: oom_kill) and cgroup-v1/memory.rst
(memory.oom_control: oom_kill), and /proc/vmstat (oom_kill, of the whole machine).
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from jupyter_mlgpu.measure.probes import memory
from jupyter_mlgpu.record.flight.flight_record import OomKills

_COUNT = b"oom_kill "
#: Bytes that are read of such a file: /proc/vmstat has 4 to 8 kB.
MOST = 16 * 1024


class OomCounters(NamedTuple):
    """The files with the counters for one process; `group` is None if no control group limits its memory."""

    group: Path | None
    machine: Path

    def read(self) -> OomKills:
        """Return the counts now."""
        return OomKills(None if self.group is None else _count(self.group), _count(self.machine))


def counters(pid: int | None = None, root: Path = Path("/")) -> OomCounters:
    """Return the counters for a process (this one without `pid`), of the innermost visible group."""
    candidates = (
        folder / ("memory.events" if used == "memory.current" else "memory.oom_control")
        for folder, _, used in memory.groups(root, pid)
    )
    return OomCounters(
        next((path for path in candidates if _count(path) is not None), None), root / "proc/vmstat"
    )


def count(text: bytes) -> int | None:
    """Return the number of kills in the text of such a file, None if it has none."""
    _, found, rest = (b"\n" + text).partition(b"\n" + _COUNT)
    number = rest.partition(b"\n")[0]
    return int(number) if found and number.isdigit() else None


def _count(path: Path) -> int | None:
    try:
        with open(path, "rb", buffering=0) as file:
            return count(file.read(MOST))
    except OSError:
        return None
