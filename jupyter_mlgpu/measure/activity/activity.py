"""The samples and counters of a cell as plain data, without interpretation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from jupyter_mlgpu.record.strip import HostLane

#: What a library function does. If a stack holds several, the first in this list counts.
#: profiler: a profiler of the user's, or a debugger. compiling: tracing and compiling. loader: collecting
#: batches item by item. input: preparing data in another way. copy: between host and device. values: waiting
#: until a device has computed values. waiting: asleep, or for a lock, a process, a disk or a network.
#: importing: of modules.
Doing = Literal["profiler", "compiling", "loader", "input", "copy", "values", "waiting", "importing"]

#: How a thread worked between two samples.
#: interpreter: it worked, and released the GIL only on request.
#: kept lock: it worked and kept the GIL for a while, but released it by itself at the sampled place.
#: short calls: it worked, and the GIL was free at once.
#: native: it went on working while the sampler held the GIL, so it ran code that needs none.
#: no processor: it was ready to run, but no CPU was free.
#: idle: it used hardly any CPU time. idle beside others: the same, while other threads of the process
#: worked. idle beside Python: and a native thread among these kept the GIL, so it ran Python.
State = Literal[
    "interpreter",
    "kept lock",
    "short calls",
    "native",
    "no processor",
    "idle",
    "idle beside others",
    "idle beside Python",
]


class Call(Struct, frozen=True):
    """The call of an instruction, as written in the code (`loader.next`), and the module of the callee.

    `text` is empty if only the line is known and not a call in it. `module` is None if unknown: a function's
    local variables are not read. For a line without a call, it is the module of an array in the line, or
    `builtins` if there can be no array in it. `size` is that of the largest array, in bytes.
    """

    text: str
    module: str | None = None
    size: int | None = None


class Line(Struct, frozen=True):
    """A line of the user's code, with the execution count of its cell if it has one.

    `file` is the compiled file whose lines `number` counts, until the line's place in a cell is known.
    """

    number: int
    cell: int | None = None
    file: str | None = None


class Part(Struct, frozen=True):
    """The samples that agree on the innermost call, the user's line with its call, and the thread's state.

    `seconds` is the time between each of these samples and the one before, added up. `waited` is their total
    delay: they waited for the GIL or for a CPU. `thread`: sampled in another thread than the cell's, which
    waited meanwhile.
    """

    state: State
    seconds: float
    samples: int
    waited: float = 0.0
    doing: Doing | None = None
    call: Call | None = None
    line: Line | None = None
    line_call: Call | None = None
    thread: bool = False


class Activity(Struct, frozen=True, kw_only=True):
    """The samples and counters of a cell, from the first sample to the end. Times are in seconds.

    Counters are None on systems that lack them.

    Attributes:
        samples: the number of samples of the thread; each of `parts` covers the time before its samples.
        unsampled: the time in which the sampler could not get the GIL; `unsampled_busy`, how much of it the
            thread worked; `unsampled_in`, what it was found in right afterwards.
        thread_time: CPU time of the cell's thread.
        process_time: CPU time of all threads of the process.
        children_time: CPU time of child processes that ended meanwhile.
        processor_wait: how long the thread was ready to run and no CPU was free (Linux, schedstat).
        processor_waits: the same for all threads of the process together, from the first sample on in which
            the cell's thread waited for others of them.
        others_time: CPU time of all other programs, on `cores` CPUs.
        memory_stall: how long some task on the machine waited for memory (Linux, pressure/memory, some).
        swapped: pages read from the swap, for all programs (Linux, vmstat, pswpin).
        major_faults: how often the process waited for a page from a disk or the swap (Unix, getrusage).
        gpus: by label, the part of the time in which a kernel of any program ran, and NVML's sample count.
        gpu_others: the part of the GPUs' work that was for other processes; the largest of all GPUs (NVML).
        gpu_neighbours: other processes that may compute on the GPUs, if `gpu_others` is unknown (NVML).
        allocator_retries: how often a framework's allocator had to free cached memory and try again.
        compile_time: how long frameworks traced and compiled, by their own clocks.
        compiled: how many programs they compiled; None if those that report the time do not count.
        first_runs: time of programs' first runs, which include compiling, in addition to `compile_time`.
        called_back: True if native threads of a framework may have called Python functions.
        traced: True if a trace or profile function of the user's was on in the cell's thread.
        lane: the CPU's lane of the cell's strip; None if the cell was too short for one.
        lane_lines: the line that ran most in each bin of the lane.
    """

    seconds: float
    samples: int
    parts: tuple[Part, ...]
    unsampled: float = 0.0
    unsampled_busy: float = 0.0
    unsampled_in: tuple[Part, ...] = ()
    thread_time: float | None = None
    process_time: float | None = None
    children_time: float | None = None
    processor_wait: float | None = None
    processor_waits: float | None = None
    others_time: float | None = None
    cores: int = 1
    memory_stall: float | None = None
    swapped: int | None = None
    major_faults: int | None = None
    gpus: Mapping[str, tuple[float, int]] = {}
    gpu_others: float | None = None
    gpu_neighbours: int | None = None
    allocator_retries: int | None = None
    compile_time: float | None = None
    compiled: int | None = None
    first_runs: float = 0.0
    called_back: bool = False
    traced: bool = False
    lane: HostLane | None = None
    lane_lines: tuple[Line | None, ...] = ()
