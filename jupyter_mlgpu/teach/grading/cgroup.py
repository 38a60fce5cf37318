"""Memory limits that the Linux kernel enforces on a submission, if systemd is available.

`systemd-run --scope` asks systemd for a control group with limits (the user's systemd, or for root the
system's), moves itself into it, and then becomes the given command. So the process id, standard input and
open files stay the same. In such a group the kernel counts all memory, including unnamed files, folders in
memory and socket buffers, and ends a process that uses too much. The grader's own accounting (`memory.py`)
runs in any case.

Sources: systemd-run(1), systemd.resource-control(5), and systemd's src/run/run.c, in which a scope's last
step is execvpe(3). This was read, and run with a fake; it was not run with a real systemd.
"""

from __future__ import annotations

import functools
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from jupyter_mlgpu.measure.probes import memory, oom
from jupyter_mlgpu.teach.grading.limits import Limits

#: Seconds within which a working systemd has started a command.
LONGEST = 5.0
#: Root of the kernel's files on processes and control groups.
ROOT = Path("/")

#: Exit statuses of a process or a sandbox (which adds 128) when the kernel kills one of its processes because
#: memory is short. systemd then ends the rest of the group, with SIGTERM first.
_KILLED = {sign for one in (signal.SIGKILL, signal.SIGTERM) for sign in (-one, 128 + one)}


def in_group(words: Sequence[str], limits: Limits) -> list[str]:
    """Return the command that runs `words` in a limited group, or `words` if there are no groups."""
    return [*_scope(limits), *words] if is_available() else list(words)


def _scope(limits: Limits) -> list[str]:
    command = ["systemd-run", *([] if os.geteuid() == 0 else ["--user"]), "--scope", "--quiet", "--collect"]
    for one in (f"MemoryMax={limits.memory}", "MemorySwapMax=0", f"TasksMax={limits.processes}"):
        command += ["-p", one]
    return [*command, "--"]


@functools.cache
def is_available() -> bool:
    """Return True if systemd can start commands in groups of their own on this machine."""
    with suppress(OSError, subprocess.TimeoutExpired):
        nothing = subprocess.DEVNULL
        words = [*_scope(Limits(memory=1024**3)), "true"]
        done = subprocess.run(words, stdin=nothing, stdout=nothing, stderr=nothing, timeout=LONGEST)
        return done.returncode == 0
    return False


def limits_memory(process: int, limits: Limits) -> bool:
    """Return True if the kernel limits the memory of the process's group; systemd may lack the right to."""
    page = os.sysconf("SC_PAGE_SIZE")
    for folder, most, _ in memory.groups(ROOT, process)[:1]:
        with suppress(OSError, ValueError):
            return int((folder / most).read_text()) == limits.memory // page * page
    return False


def count_kills() -> int:
    """Return the number of processes that the kernel has ended because memory was short."""
    return oom.OomCounters(None, ROOT / "proc/vmstat").read().machine or 0


def ended_for_memory(status: int | None, kills_before: int) -> bool:
    """Return True if a process ended with this status because memory was short.

    It must have ended by a signal, and the kernel must have counted a kill. A program can end itself with the
    same signals, but the kernel does not count that.
    """
    return status in _KILLED and count_kills() > kills_before
