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
import importlib.util, os
os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
if importlib.util.find_spec("torch") and (torch := __import__("torch")).cuda.is_available():
    x = torch.ones(8192, 8192, device="cuda", dtype=torch.bfloat16)
    done = torch.cuda.synchronize
else:
    import jax, jax.numpy as jnp
    x = jnp.ones((8192, 8192), jnp.bfloat16)
    done = lambda: jax.block_until_ready(y)
y = x @ x
done()
print(flush=True)
while True:
    for _ in range(20):
        y = x @ x
    done()
"""


@contextmanager
def beside(load: Load | None) -> Iterator[None]:
    """Run other programs beside this block, in sessions of their own, as another user's are."""
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
    """Seconds that processes had worked or waited up to a moment.

    `delays` is how long each thread of a process had waited for a core, `own` how long the process and its
    children had one, `others` how long all other processes had.
    """

    delays: dict[int, float]
    own: float
    others: float

    @classmethod
    def of(cls, pid: int) -> Waited:
        """Read the system's counters now; only Linux counts delays."""
        machine = psutil.cpu_times()
        busy = sum(machine) - machine.idle - getattr(machine, "iowait", 0.0) - getattr(machine, "guest", 0.0)
        own = 0.0
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
            with suppress(psutil.Error):
                own += sum(process.cpu_times()[:4])
        return cls(run_delays(pid), own, busy - own)


def run_delay(pid: int) -> float | None:
    """Return the seconds in which the main thread could have run and did not; None if not counted."""
    return run_delays(pid).get(pid)


def run_delays(pid: int) -> dict[int, float]:
    """Return these seconds of each thread by its number; empty where they are not counted.

    The second number of /proc/PID/task/TID/schedstat, in nanoseconds (the kernel's sched-stats.rst).
    """
    delays: dict[int, float] = {}
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with suppress(OSError):
            delays[int(file.parent.name)] = int(file.read_text().split()[1]) / 1e9
    return delays


def disturbance(before: Waited, after: Waited, wall: float) -> float:
    """Return the part of a cell, from 0 to 1, in which a thread waited for a core that others had.

    Of the thread that waited longest. Where others used less than a seventh of the machine, it waited for
    threads of its own.
    """
    cores = psutil.cpu_count() or 1
    if wall <= 0 or (after.others - before.others) / (wall * cores) < 1 / 7:
        return 0.0
    delays = (delay - before.delays.get(thread, 0.0) for thread, delay in after.delays.items())
    return min(1.0, max(delays, default=0.0) / wall)
