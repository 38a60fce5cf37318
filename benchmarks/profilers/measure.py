"""Time the cells of a framework under every condition, in kernels that stand side by side.

In each round every condition has its turn, in an order drawn anew (from a fixed seed, so that a run can be
repeated). What drifts slowly on the machine, its heat and other programs, then meets all of them alike.
"""

from __future__ import annotations

import queue
import random
import sys
from collections.abc import Collection
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec

from benchmarks.kernel import SHARED_GPU, CellError, Kernel, running_kernel
from benchmarks.profilers.cells import Framework
from benchmarks.profilers.conditions import OPS, PARSING, TOOLS, Condition, Side, sides
from benchmarks.tracing import settle
from benchmarks.workloads import Workload, calibrate

#: How long the training cells are made, bare, in seconds.
LENGTH = 0.200
#: Times each condition runs a cell before the first round.
WARM_UP = 2
SEED = 0
#: A cell of some tenths of a second that takes longer than this many seconds is not waited for.
PATIENCE = 45.0
_PROCESSOR_TIME = "__import__('time').process_time()"

# One thread: several that wait for each other make a cell of 0.2 s take a whole second as soon as another
# program needs a core, and what tracing adds, which is on the main thread, cannot be seen any more.
_ENVIRONMENT = {
    "KINETO_LOG_LEVEL": "99",
    "OMP_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTRAOP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    **SHARED_GPU,
}
_FAILURES = (CellError, RuntimeError, queue.Empty)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one cell by kernel, condition and round (the same index, the same round).

    `processor` are those of processor time in the kernel's process, threads that work on after the reply
    included: on a busy machine they tell more than the clock. `parsing` is what reading the profiles took of
    the times with --ops, and is not in them. `why_not` names the kernels that could not be measured.
    """

    framework: str
    workload: Workload
    steps: int
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    processor: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    parsing: list[float] = field(default_factory=list)
    why_not: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Measured:
    """A kernel that takes part; `stack` ends it."""

    side: Side
    kernel: Kernel
    stack: ExitStack


def measure(
    framework: Framework, rounds: int, tools: Collection[str] = TOOLS, cells: Collection[str] = ()
) -> list[Times]:
    """The times of each cell of a framework (of those named in `cells`, if any), beside those of `tools`."""
    with ExitStack() as stack:
        measured: list[_Measured] = []
        why_not: dict[str, str] = {}
        for side in sides(framework, tools):
            try:
                measured.append(_start(stack, side, framework))
            except _FAILURES as error:
                why_not[side.name] = _reason(error)
        found = []
        large = framework.large if measured[0].kernel.value(framework.has_gpu) else ()
        for workload in (*framework.workloads, *large):
            if cells and workload.name not in cells:
                continue
            found.append(_times(measured, framework, workload, rounds, why_not))
            print(f"{framework.name}, {workload.name}: measured", file=sys.stderr, flush=True)
        return found


def _start(all_: ExitStack, side: Side, framework: Framework) -> _Measured:
    if find_spec(side.needs) is None:
        raise RuntimeError(f"{side.needs} is not installed in this Python: run `make benchmark-profilers`")
    stack = all_.enter_context(ExitStack())
    kernel = stack.enter_context(running_kernel(_ENVIRONMENT))
    kernel.run(framework.setup)
    kernel.run(side.setup)
    stack.callback(_end, kernel, side)
    return _Measured(side, kernel, stack)


def _end(kernel: Kernel, side: Side) -> None:
    with suppress(*_FAILURES):  # one that is still at its cell
        kernel.run(side.teardown, PATIENCE)


def _times(
    measured: list[_Measured], framework: Framework, workload: Workload, rounds: int, why_not: dict[str, str]
) -> Times:
    first = measured[0]
    bare = first.side.conditions[0]

    def take(count: int) -> float:
        return _timed(first.kernel, bare, workload.cell(count), framework)[0]

    take(1)  # builds graphs, and is no measure of later runs
    steps = calibrate(take, LENGTH) if workload.adjustable else 1
    times = Times(framework.name, workload, steps)
    code = workload.cell(steps)
    order = random.Random(SEED)
    for number in range(-WARM_UP, rounds):
        turns = [
            (one, condition)
            for one in measured
            if number % one.side.every == 0 or number == -1
            for condition in one.side.conditions
        ]
        order.shuffle(turns)
        for one, condition in turns:
            if one in measured:
                try:
                    _turn(one, condition, code, framework, times if number >= 0 else None)
                except _FAILURES as error:
                    measured.remove(one)
                    one.stack.close()  # it may go on for minutes, beside the others
                    why_not[one.side.name] = _reason(error)
    times.why_not.update(why_not)
    return times


def _turn(one: _Measured, condition: Condition, code: str, framework: Framework, times: Times | None) -> None:
    seconds, processor = _timed(one.kernel, condition, code, framework)
    parsing = one.kernel.value(PARSING) if condition.name == OPS else (0.0, 0.0)
    if times is not None:
        place = one.side.name, condition.name
        times.seconds.setdefault(place, []).append(seconds - parsing[0])
        times.processor.setdefault(place, []).append(processor - parsing[1])
        if condition.name == OPS:
            times.parsing.append(parsing[0])


def _timed(kernel: Kernel, condition: Condition, cell: str, framework: Framework) -> tuple[float, float]:
    """Seconds on the client's clock, and of processor time in the kernel."""
    kernel.run(condition.before)
    settle(kernel)
    before = kernel.value(_PROCESSOR_TIME)
    kernel.wait_until_idle()
    seconds = kernel.run(condition.code(cell, framework), PATIENCE)
    settle(kernel)  # what follows the reply costs processor time, too
    return seconds, kernel.value(_PROCESSOR_TIME) - before


def _reason(error: Exception) -> str:
    if isinstance(error, queue.Empty):
        return f"a cell was not done after {PATIENCE:.0f} s (bare: {LENGTH:g} s)"
    return " ".join(str(error).split())[:300]
