"""Has the Linux kernel hold a submission's memory to its limit, where a systemd answers.

`systemd-run --scope` asks systemd for a control group with limits (the user's systemd, or for root the
system's), moves itself into it, and then becomes the command that it was given. So its process id, its
standard input and its open files stay as they are. In such a group the kernel counts all memory, also files
without a name, folders in memory and what waits in sockets, and ends a process that takes too much. The
grader's own count (`memory.py`) goes on in any case.

Sources: systemd-run(1), systemd.resource-control(5), and systemd's src/run/run.c, where a scope's last step
is execvpe(3). This was read, and run with a fake; it was not run with a real systemd.
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

#: Seconds in which a systemd that works has started a command.
LONGEST = 5.0
#: Where the kernel's files on processes and control groups are.
ROOT = Path("/")

#: How a process or a sandbox (which adds 128) ends when the kernel kills a process of it for want of memory.
#: systemd then ends the rest of the group, with SIGTERM first.
_KILLED = {sign for one in (signal.SIGKILL, signal.SIGTERM) for sign in (-one, 128 + one)}


def in_group(words: Sequence[str], limits: Limits) -> list[str]:
    """The command that runs `words` in a group with these limits; `words` themselves where there is none."""
    return [*_scope(limits), *words] if works() else list(words)


def _scope(limits: Limits) -> list[str]:
    made = ["systemd-run", *([] if os.geteuid() == 0 else ["--user"]), "--scope", "--quiet", "--collect"]
    for one in (f"MemoryMax={limits.memory}", "MemorySwapMax=0", f"TasksMax={limits.processes}"):
        made += ["-p", one]
    return [*made, "--"]


@functools.cache
def works() -> bool:
    """Whether systemd starts commands in groups of their own here."""
    with suppress(OSError, subprocess.TimeoutExpired):
        nothing = subprocess.DEVNULL
        words = [*_scope(Limits(memory=1024**3)), "true"]
        done = subprocess.run(words, stdin=nothing, stdout=nothing, stderr=nothing, timeout=LONGEST)
        return done.returncode == 0
    return False


def holds(process: int, limits: Limits) -> bool:
    """Whether the kernel holds the process's own group to this memory; systemd may have no say over it."""
    page = os.sysconf("SC_PAGE_SIZE")
    for folder, most, _ in memory.groups(ROOT, process)[:1]:
        with suppress(OSError, ValueError):
            return int((folder / most).read_text()) == limits.memory // page * page
    return False


def kills() -> int:
    """How many processes the kernel has ended for want of memory, in groups or in all of the machine."""
    return oom.OomCounters(None, ROOT / "proc/vmstat").read().machine or 0


def ended_for_memory(status: int | None, kills_before: int) -> bool:
    """Whether a process ended with this status for want of memory: by a signal, and the kernel counts a kill.

    A program can end itself by the same signals, but that the kernel does not count.
    """
    return status in _KILLED and kills() > kills_before
