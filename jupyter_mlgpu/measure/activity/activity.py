"""What was seen of a cell while it ran, as plain data: nothing here says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

#: What a library is doing in a function of its own, whatever calls it; the first one counts in a stack that has
#: several. profiler: somebody's own, or a debugger. compiling: tracing and compiling. importing: of modules.
#: input: getting data ready. copy: between host and device. values: waits until a device has values.
#: waiting: asleep, or for a lock, a process, a disk or a network.
Doing = Literal["profiler", "compiling", "input", "copy", "values", "waiting", "importing"]

#: How a thread was at work between two looks. interpreter: its processor time went on, and the interpreter's
#: lock had to be waited for. short calls: its time went on, and the lock was free again and again. native:
#: it went on working while the lock was ours, so it ran code that needs none. no processor: it would have
#: gone on, but had none. idle: it had next to no processor time; `idle beside others`: nor had it, while
#: other threads of the process worked.
State = Literal["interpreter", "short calls", "native", "no processor", "idle", "idle beside others"]


class Call(Struct, frozen=True):
    """What an instruction calls: as the code writes it (`loader.next`), and the module of what is called.

    `text` is empty where a line was seen, and nothing that it calls. `module` is None where it is not known: what
    stands in a function's own variables is not looked at. Of such a line it is that of an array in it, or
    `builtins` where no array can be in it.
    `size` is that of the largest array that the instruction names, in bytes, where that can be seen.
    """

    text: str
    module: str | None = None
    size: int | None = None


class Line(Struct, frozen=True):
    """A line of the user's code. `cell` is the execution count of the cell that it stands in, where it has one."""

    number: int
    cell: int | None = None


class Part(Struct, frozen=True):
    """Looks that saw the same: the innermost call, the user's line with what that called, and how it worked.

    `seconds` is the time between these looks and those before them. `thread`: it was seen in another thread
    than the cell's, which waited meanwhile.
    """

    state: State
    seconds: float
    looks: int
    doing: Doing | None = None
    call: Call | None = None
    line: Line | None = None
    line_call: Call | None = None
    thread: bool = False


class Activity(Struct, frozen=True, kw_only=True):
    """A cell as it was seen; times in seconds, of the part between the first look and the last.

    `unseen` is the time in which the interpreter's lock was not to be had, `unseen_busy` the part of it in
    which the cell's thread worked, and `unseen_in` what it was found in right afterwards. Counters are None
    where the system has none:

    `thread_time`, `process_time`: processor time of the cell's thread, and of all threads of the process.
    `processor_wait`: the thread was ready to run, and no processor was free (Linux, /proc/PID/task/TID/schedstat).
    `others_time`: processor time of all other programs, of `cores` processors.
    `memory_stall`: somebody on the machine waited for memory (Linux, /proc/pressure/memory, `some`).
    `swapped`: pages brought in from the swap (Linux, /proc/vmstat, pswpin).
    `gpus`: by label, the part of the time in which a kernel ran, of any program (NVML).
    """

    seconds: float
    looks: int
    parts: tuple[Part, ...]
    unseen: float = 0.0
    unseen_busy: float = 0.0
    unseen_in: tuple[Part, ...] = ()
    thread_time: float | None = None
    process_time: float | None = None
    processor_wait: float | None = None
    others_time: float | None = None
    cores: int = 1
    memory_stall: float | None = None
    swapped: int | None = None
    gpus: Mapping[str, tuple[float, int]] = {}
    prepared: Mapping[str, float] = {}
