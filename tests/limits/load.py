"""Other programs on the machine: those that the harness starts, and how long a process waits for a core."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.limits.program import Load

#: Processes for each core: the cell gets a fourth of one.
BESIDE_EACH_CORE = 3
_BUSY = "print(flush=True)\nwhile True: pass"
_BUSY_GPU = """
import torch
x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
torch.cuda.synchronize()
print(flush=True)
while True:
    for _ in range(20):
        y = x @ x
    torch.cuda.synchronize()
"""


@contextmanager
def beside(load: Load | None) -> Iterator[None]:
    """Other programs are at work in this block; in sessions of their own, as another user's are."""
    codes = {
        None: [],
        "processor": [_BUSY] * BESIDE_EACH_CORE * (psutil.cpu_count() or 1),
        "gpu": [_BUSY_GPU] * 3,
    }[load]
    running = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, start_new_session=True)
        for code in codes
    ]
    try:
        for process in running:
            assert process.stdout is not None
            assert process.stdout.readline(), "a program that was to run beside a cell has ended"
        yield
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.communicate()


@dataclass(frozen=True)
class Waited:
    """What a process had done up to a moment, in seconds: waited for a core, and worked, and all others."""

    delay: float | None
    own: float
    others: float

    @classmethod
    def of(cls, pid: int) -> Waited:
        """As the system counts it now; `delay` is None where it does not tell (it is Linux that does)."""
        machine = psutil.cpu_times()
        busy = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0) - getattr(machine, "guest", 0.0)
        own = 0.0
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            with suppress(psutil.Error):
                own += sum(process.cpu_times()[:4])
        return cls(run_delay(pid), own, busy - own)


def run_delay(pid: int) -> float | None:
    """Seconds in which the main thread of a process could have run and did not; None where nobody counts.

    The second number of /proc/PID/task/TID/schedstat, in nanoseconds (the kernel's sched-stats.rst).
    """
    try:
        told = Path(f"/proc/{pid}/task/{pid}/schedstat").read_text()
    except OSError:
        return None
    return int(told.split()[1]) / 1e9


def disturbance(before: Waited, after: Waited, wall: float) -> float:
    """The part of a cell in which it waited for a core that other programs had, from 0 to 1.

    Where others used less than a seventh of the machine, it waited for threads of its own.
    """
    cores = psutil.cpu_count() or 1
    if before.delay is None or after.delay is None or wall <= 0:
        return 0.0
    if (after.others - before.others) / (wall * cores) < 1 / 7:
        return 0.0
    return min(1.0, (after.delay - before.delay) / wall)
