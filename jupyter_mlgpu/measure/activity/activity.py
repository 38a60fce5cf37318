"""What was seen of a cell while it ran, as plain data: nothing here says what it means."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from jupyter_mlgpu.record.strip import HostLane

#: What a library is doing in a function of its own; of several in a stack the first one here counts.
#: profiler: somebody's own, or a debugger. compiling: tracing and compiling. loader: putting batches together
#: item by item. input: getting data ready in another way.
#: copy: between host and device. values: waiting until a device has values. waiting: asleep, or for a lock, a
#: process, a disk or a network. importing: of modules.
Doing = Literal["profiler", "compiling", "loader", "input", "copy", "values", "waiting", "importing"]

#: How a thread was at work between two looks.
#: interpreter: it worked, and gave up the interpreter's lock only because it was asked to.
#: kept lock: it worked, and kept the lock for a while, but gave it up by itself where it was seen then.
#: short calls: it worked, and the lock was there at once.
#: native: it went on working while the lock was ours, so it ran code that needs none.
#: no processor: it would have gone on, but had no processor.
#: idle: it had next to no processor time. idle beside others: nor had it, while other threads of the process
#: worked. idle beside Python: and a native thread of these kept the interpreter's lock, so it ran Python.
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
    """What an instruction calls: as the code writes it (`loader.next`), and the module of what is called.

    `text` is empty where a line was seen, and nothing that it calls. `module` is None where it is not known:
    what stands in a function's own variables is not looked at. Of a line without a call it is that of an
    array in it, or `builtins` where no array can be in it. `size` is that of the largest array, in bytes.
    """

    text: str
    module: str | None = None
    size: int | None = None


class Line(Struct, frozen=True):
    """A line of the user's code, and the execution count of the cell that it stands in, where it has one.

    `file` is the compiled file in which the line is counted, until it is known where that stands in a cell.
    """

    number: int
    cell: int | None = None
    file: str | None = None


class Part(Struct, frozen=True):
    """Looks that saw the same: the innermost call, the user's line with its call, and how the thread worked.

    `seconds` is the time between these looks and those before them; `waited` how late they came in all, for
    they had to wait for the interpreter's lock, or for a processor. `thread`: seen in another thread than the
    cell's, which waited meanwhile.
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
    """A cell as it was seen; times in seconds, of the part between the first look and the end.

    Counters are None where the system has none.

    Attributes:
        looks: how many looks saw the thread; `parts` are what they saw, the first one of the time before it.
        unseen: the time in which the interpreter's lock was not to be had; `unseen_busy`, how much of it the
            thread worked; `unseen_in`, what it was found in right afterwards.
        thread_time: processor time of the cell's thread.
        process_time: processor time of all threads of the process.
        children_time: processor time of child processes that ended meanwhile.
        processor_wait: for how long the thread was ready to run and no processor was free (Linux, schedstat).
        processor_waits: the same of all threads of the process together, from the first look on that saw the
            cell's thread wait for others of them.
        others_time: processor time of all other programs, on `cores` processors.
        memory_stall: for how long somebody on the machine waited for memory (Linux, pressure/memory, some).
        swapped: pages brought in from the swap, for all programs (Linux, vmstat, pswpin).
        major_faults: how often the process waited for a page from a disk or the swap (Unix, getrusage).
        gpus: by label, the part of the time in which a kernel of any program ran, and the samples (NVML).
        gpu_others: the part of the GPUs' work that was for other processes; the largest of all GPUs (NVML).
        gpu_neighbours: other processes that may compute on the GPUs, where `gpu_others` was not told (NVML).
        allocator_retries: how often a framework's allocator had to free what it kept and to try again.
        compile_time: how long frameworks traced and compiled, as they tell themselves.
        compiled: how many programs they compiled; None also where those that tell the time do not count.
        first_runs: how long first runs of programs took that compiled them as well, beside `compile_time`.
        called_back: native threads of a framework may have called functions of Python.
        traced: a trace or profile function of somebody else's was on in the cell's thread.
        lane: the CPU's lane of the cell's strip; None where the cell was too short for one.
        lane_lines: the line that ran most in each bin of that.
    """

    seconds: float
    samples: int
    parts: tuple[Part, ...]
    unseen: float = 0.0
    unseen_busy: float = 0.0
    unseen_in: tuple[Part, ...] = ()
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
