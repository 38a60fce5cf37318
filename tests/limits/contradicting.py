"""Compare an answer with a profile of the same cell.

An answer says on what a cell spent most of its time. A profile of the same cell, run without us in a process
of its own, says of each kind how much of the time it can have had **at most**:

* `waiting`: while the process used no processor;
* `python`: while the main thread used one, in the interpreter itself and not in a framework's library;
* `compiling`: while the main thread's stack had a function that traces or compiles, or what a second run of
  the cell saved, whichever is more;
* `input`: while the stack had a data loader or a function that gets data ready; all of it where tf.data was
  there, whose threads have no stack;
* `launch` and `transfer`: while the main thread used a processor;
* `device`, `compute`, `bandwidth`: while threads of the process used one outside of the interpreter;
* `memory`: none, unless pages were swapped in or read again;
* `contention`: while a thread could have run and had no core, in this run or in the one that was asked about.

An answer is contradicted where that is less than a third of the cell: a half would be most of it, and two
runs of one cell differ. What is open says nothing, and is not contradicted.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_mlgpu.record.limit import LimitKind
from tests.limits.judge import Answer

LEAST = 1 / 3


@dataclass(frozen=True)
class Profile:
    """Parts of a cell's wall time, from 0 to 1, as one run of it had them; what is not known here is None.

    `idle` while the process used no processor, `main` while its main thread used one or waited for it,
    `interpreter` while the main thread was in Python's own code (and not in a framework's library), `native`
    while any thread was in a library, `compiling` and `getting` while the main thread's stack had such a
    function, `saved` what a second run took less, `delayed` while a thread waited for a core. `pipeline` says
    whether tf.data was there, `major_faults` how many pages came from a disk.
    """

    seconds: float
    idle: float
    main: float
    compiling: float
    getting: float
    saved: float
    delayed: float | None
    interpreter: float | None
    native: float | None
    pipeline: bool
    major_faults: int

    def at_most(self, kind: LimitKind) -> float | None:
        """Return the largest part of the time that a kind can have had; None where it is not known."""
        match kind:
            case "waiting":
                return self.idle
            case "python":
                return self.main if self.interpreter is None else min(self.main, self.interpreter)
            case "compiling":
                return max(self.compiling, self.saved)
            case "input":
                return 1.0 if self.pipeline else self.getting
            case "launch" | "transfer":
                return self.main
            case "device" | "compute" | "bandwidth" | "native":
                return self.native
            case "memory":
                return 1.0 if self.major_faults else 0.0
            case "contention":
                return self.delayed
            case "unknown":
                return None


def contradiction(answer: Answer, profile: Profile) -> str | None:
    """Return in words how the profile contradicts an answer; None where it does not."""
    if answer.is_open or answer.kind is None:
        return None
    most = profile.at_most(answer.kind)
    if answer.kind == "contention" and most is not None:
        most = max(most, answer.delayed)
    if most is None or most >= LEAST:
        return None
    return f"{answer.kind} had at most {most:.0%} of the cell"
