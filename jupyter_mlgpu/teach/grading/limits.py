"""What one submission may take of the machine: memory, processes, files. What takes more is ended."""

from __future__ import annotations

import dataclasses
import json
import os
import resource
from contextlib import suppress
from dataclasses import dataclass

#: Files, pipes and sockets that one process may have open: what most systems begin with.
_MOST_OPEN = 1024


@dataclass(frozen=True)
class Limits:
    """Most bytes of memory, and of all files; most processes and threads of a submission, counted together.

    The kernel holds the address space, single files and processes to them, the sandbox all files together,
    and the grader looks at memory and processes while the student's code runs. `others` are threads outside
    the sandbox, which some kernels count with those in it.
    """

    memory: int
    files: int = 512 * 1024**2
    processes: int = 512
    others: int = 0

    @classmethod
    def of_this_machine(cls) -> Limits:
        """Half of its memory, and enough threads for libraries that start some for each processor."""
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        others = 0 if os.geteuid() == 0 else _threads_of(os.getuid())
        return cls(memory // 2, processes=max(512, 16 * (os.cpu_count() or 1)), others=others)

    @property
    def left_running(self) -> int:
        """Most processes and threads that a cell may leave behind; as many are free for each later cell."""
        return self.processes // 2

    def as_json(self) -> str:
        """For the command line of `sandbox_worker`."""
        return json.dumps(dataclasses.asdict(self))

    def apply(self) -> None:
        """Hold this process, and all that it starts, to them."""
        wanted = {
            # Libraries reserve far more addresses than they use; what is used, the grader looks at.
            "RLIMIT_AS": 4 * self.memory,
            "RLIMIT_FSIZE": self.files,
            "RLIMIT_NPROC": self.processes + self.others,
            # What waits in pipes and sockets is memory that no process shows.
            "RLIMIT_NOFILE": _MOST_OPEN,
            "RLIMIT_CORE": 0,
        }
        for name, most in wanted.items():
            kind = getattr(resource, name, None)
            if kind is None:  # not on this system
                continue
            _, hard = resource.getrlimit(kind)
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with suppress(ValueError, OSError):  # macOS refuses some; the grader looks at what is used
                resource.setrlimit(kind, (least, least))


def _threads_of(user: int) -> int:
    import psutil

    told = (one.info for one in psutil.process_iter(["uids", "num_threads"]))
    return sum(one["num_threads"] or 1 for one in told if one["uids"] and one["uids"].real == user)
