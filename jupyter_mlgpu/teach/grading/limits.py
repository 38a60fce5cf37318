"""Limits of one submission: memory, processes and files. A submission that exceeds them is ended."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
from contextlib import suppress
from dataclasses import dataclass

from jupyter_mlgpu.measure.activity.counters import cores

#: Most files, pipes and sockets that one process may have open: the usual default of systems.
_MOST_OPEN = 1024
#: Bytes of memory that each submission can use if several are graded at once.
_LEAST_MEMORY = 2 * 1024**3


@dataclass(frozen=True)
class Limits:
    """The limits of a submission: bytes of memory, bytes of all files, and processes and threads together.

    The kernel enforces the limits on address space, single files and processes, and the sandbox the one on
    all files together. The grader checks memory and processes while the student's code runs. `others` counts
    threads outside the sandbox, which some kernels count as well.
    """

    memory: int
    files: int = 512 * 1024**2
    processes: int = 512
    others: int = 0

    @classmethod
    def of_this_machine(cls, at_once: int = 1) -> Limits:
        """Return half of this machine's memory, and enough threads for one per processor in libraries.

        If several submissions are graded at once, they share the memory.
        """
        processes = max(512, 16 * (os.cpu_count() or 1))
        others = 0 if os.geteuid() == 0 else _threads_of(os.getuid())
        return cls(
            _half_of_memory() // at_once, processes=processes, others=others + (at_once - 1) * processes
        )

    @property
    def left_running(self) -> int:
        """Most processes and threads that a cell may leave running; each later cell may use as many again."""
        return self.processes // 2

    def as_json(self) -> str:
        """Return the limits as an argument for the command line of `sandbox_worker`."""
        return json.dumps(dataclasses.asdict(self))

    def apply(self) -> None:
        """Apply the limits to this process and all that it starts."""
        wanted = {
            # Libraries reserve far more addresses than they use; the grader checks the memory in use.
            "RLIMIT_AS": 4 * self.memory,
            "RLIMIT_FSIZE": self.files,
            "RLIMIT_NPROC": self.processes + self.others,
            # Data in pipes and sockets is memory that belongs to no process.
            "RLIMIT_NOFILE": _MOST_OPEN,
            "RLIMIT_CORE": 0,
        }
        for name, most in wanted.items():
            kind = getattr(resource, name, None)
            if kind is None:  # not on this system
                continue
            _, hard = resource.getrlimit(kind)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with suppress(ValueError, OSError):  # macOS refuses some; the grader checks the memory in use
                resource.setrlimit(kind, (least, least))


def most_at_once() -> int:
    """Return how many submissions can be graded at once: one on each processor, if the memory is enough."""
    return max(1, min(cores(), _half_of_memory() // _LEAST_MEMORY))


def _half_of_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def _threads_of(user: int) -> int:
    import psutil

    infos = (one.info for one in psutil.process_iter(["uids", "num_threads"]))
    return sum(one["num_threads"] or 1 for one in infos if one["uids"] and one["uids"].real == user)
