"""Measure what tracing adds to cells of TensorFlow, PyTorch and JAX, beside profilers and other tools.

Targets: light tracing adds at most 3 ms and 1.5 % of the bare cell; a training cell with `--ops` takes at
most 1.1 times as long as with the framework's own profiler, which is started and stopped in the cell with the
same options. Of the times with `--ops`, reading the profile and making its table ("parsing") is left out, and
reported apart.

Conditions that are compared share a kernel, and tools of different makers have kernels of their own, because
scalene leaves signal handlers behind, and JUmPER a process that samples. In each round every condition has
one turn, in an order drawn anew (from a fixed seed), and rows compare times of the same round. scalene takes
up to seventy times as long as a bare cell, so it takes part in every tenth round only. Cells are calibrated
to 0.2 s bare, and frameworks compute with one thread: on a busy machine, threads that wait for each other
hide what tracing adds. "CPU added" is processor time of the kernel's process up to 0.1 s after the reply;
other programs move it less.

`make benchmark-profilers` installs the other tools. What is not installed is left out and named.
"""

from __future__ import annotations

import argparse
import queue
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from statistics import median

from benchmarks.kernel import LOAD, CellError, Kernel, running_kernel
from benchmarks.report import MS, RATIO, Figure, Table, add_pairs, median_figure, with_interval
from benchmarks.statistics import Pair, calibrate
from benchmarks.workloads import JAX, TENSORFLOW, TORCH, Framework, Workload

PACKAGES = ("ipykernel", "tensorflow", "keras", "torch", "jax", "jumper-extension", "scalene", "viztracer")
FRAMEWORKS = {one.module: one for one in (TORCH, JAX, TENSORFLOW)}

#: Tracing may add this many seconds to a cell, and this part of the cell's own time.
TARGET_FIXED, TARGET_SHARE = 0.003, 0.015
TARGET_OPS = 1.1
#: Seconds of a training cell, bare.
LENGTH = 0.200
#: Times that each condition runs a cell before the first round.
WARM_UP = 2
SEED = 0
#: Seconds after which a cell of 0.2 s is given up.
PATIENCE = 45.0

_ENVIRONMENT = {
    "KINETO_LOG_LEVEL": "99",
    "OMP_NUM_THREADS": "1",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "TF_NUM_INTRAOP_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    # Kernels that stand side by side share a GPU: JAX would take three quarters of its memory, TensorFlow
    # all.
    "TF_FORCE_GPU_ALLOW_GROWTH": "true",
    "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
}
_FAILURES = (CellError, RuntimeError, queue.Empty)
_PROCESSOR_TIME = "__import__('time').process_time()"
_OFF, _ON = "%mlc_trace off", "%mlc_trace on"

BARE, LIGHT, PROFILER, OPS = "bare", "light tracing", "the framework's profiler", "--ops"


@dataclass(frozen=True, slots=True)
class Condition:
    """How a cell is run: `before` is an untimed cell that is run first; `over` stands above the cell."""

    name: str
    before: str = "pass"
    over: str = ""
    profiler: bool = False

    def code(self, cell: str, framework: Framework) -> str:
        """Return the cell as it is sent."""
        return self.over + (framework.profiler.format(cell=cell) if self.profiler else cell)


@dataclass(frozen=True, slots=True)
class Side:
    """A kernel and its conditions, the bare one first.

    Attributes:
        needs: the package that must be installed.
        every: in which rounds it takes part: 3 is every third.
        teardown: a cell that is run at the end.
    """

    needs: str
    setup: str
    conditions: tuple[Condition, ...]
    every: int = 1
    teardown: str = "pass"


# Stopping the profiler belongs to the profiler; the rest of `finish` is reading and the table.
_TIME_PARSING = """
import importlib
import time
from jupyter_mlgpu.measure.ops.cell import CellProfile

spent = []

def take_time(owner, method, sign):
    original = getattr(owner, method)
    def timed(self):
        begun = time.perf_counter(), time.process_time()
        try:
            return original(self)
        finally:
            ended = time.perf_counter(), time.process_time()
            spent.append([sign * (end - begin) for begin, end in zip(begun, ended)])
    setattr(owner, method, timed)

module, _, name = "{session}".partition(":")
take_time(CellProfile, "finish", 1)
take_time(getattr(importlib.import_module(module), name), "_end", -1)
"""
#: Seconds, and processor seconds, of reading the last profile with --ops and making its table.
_PARSING = "[sum(each) for each in zip(spent.pop(), spent.pop())]"

SIDES = {
    "light": Side("jupyter_mlgpu", f"{LOAD}\n{_OFF}", (Condition(BARE, _OFF), Condition(LIGHT, _ON))),
    "profiled": Side(
        "jupyter_mlgpu",
        f"{LOAD}\n{_OFF}\n{_TIME_PARSING}",
        (
            Condition(BARE, _OFF),
            # The last profile is deleted before, because that takes a while with PyTorch.
            Condition(PROFILER, f"profiler = None\n{_OFF}", profiler=True),
            Condition(OPS, _ON, over="%%mlc_trace --ops\n"),
        ),
    ),
    "JUmPER": Side(
        "jumper_extension",
        "%load_ext jumper_extension",
        (Condition(BARE, "%perfmonitor_stop"), Condition("JUmPER, 1 s", "%perfmonitor_start 1.0")),
        every=3,
        teardown="%perfmonitor_stop",  # its collector is a process of its own, which outlives the kernel
    ),
    "scalene": Side(
        "scalene",
        "%load_ext scalene",
        (Condition(BARE), Condition("scalene --cpu-only", over="%%scalene --cpu-only\n")),
        every=10,  # one cell can take half a minute
    ),
    "viztracer": Side(
        "viztracer",
        "%load_ext viztracer",
        (Condition(BARE), Condition("viztracer", over="%%viztracer\n")),
        every=3,
    ),
}


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds of one cell by side, condition and round; `processor` are processor seconds of the kernel.

    `parsing` is not in the times with --ops.
    """

    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    processor: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    parsing: list[float] = field(default_factory=list)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add frameworks, sides and cells."""
    parser.add_argument("--framework", choices=FRAMEWORKS, action="append", help="measure this one alone")
    parser.add_argument(
        "--side", choices=SIDES, nargs="+", default=list(SIDES), help="measure these (default: all)"
    )
    parser.add_argument(
        "--cell", metavar="NAME", action="append", help='measure this one alone, as "Keras fit"'
    )
    add_pairs(parser, 60, "rounds")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure each cell of each framework."""
    for name in options.framework or FRAMEWORKS:
        if find_spec(name) is None:
            print(f"{name}: not measured, because it is not installed in this Python", file=sys.stderr)
            continue
        yield from _measure_framework(FRAMEWORKS[name], options.pairs, options.side, options.cell or ())


@dataclass(slots=True)
class _Running:
    """A side whose kernel runs; `stack` ends it."""

    name: str
    side: Side
    kernel: Kernel
    stack: ExitStack


def _measure_framework(
    framework: Framework, rounds: int, sides: Sequence[str], cells: Sequence[str]
) -> Iterator[Table]:
    with ExitStack() as stack:
        running: list[_Running] = []
        failed: dict[str, str] = {}
        for name in sides:
            try:
                running.append(_start(stack, name, framework))
            except _FAILURES as error:
                failed[name] = _reason(error)
        if not running:
            print(f"{framework.name}: not measured: {failed}", file=sys.stderr)
            return
        large = framework.large if running[0].kernel.value(framework.has_gpu) else ()
        for workload in (*framework.workloads, *large):
            if not cells or workload.name in cells:
                steps = _steps(running[0], framework, workload)
                times = _take_rounds(running, framework, workload.cell(steps), rounds, failed)
                title = f"{framework.name}: {workload.name}" + f", {steps:,} steps" * workload.adjustable
                notes = [f"{name} was not measured: {why}" for name, why in failed.items()]
                yield table(title, workload, times, notes)


def _start(all_: ExitStack, name: str, framework: Framework) -> _Running:
    side = SIDES[name]
    if find_spec(side.needs) is None:
        raise RuntimeError(f"{side.needs} is not installed in this Python: run `make benchmark-profilers`")
    stack = all_.enter_context(ExitStack())
    kernel = stack.enter_context(running_kernel(_ENVIRONMENT))
    kernel.run(framework.setup)
    kernel.run(side.setup.replace("{session}", framework.session))
    stack.callback(_end, kernel, side)
    return _Running(name, side, kernel, stack)


def _end(kernel: Kernel, side: Side) -> None:
    with suppress(*_FAILURES):  # one that is still at its cell
        kernel.run(side.teardown, PATIENCE)


def _steps(first: _Running, framework: Framework, workload: Workload) -> int:
    bare = first.side.conditions[0]

    def seconds(count: int) -> float:
        return _time_cell(first.kernel, bare, workload.cell(count), framework)[0]

    seconds(1)  # builds graphs, and is no measure of later runs
    return calibrate(seconds, LENGTH) if workload.adjustable else 1


def _take_rounds(
    running: list[_Running], framework: Framework, code: str, rounds: int, failed: dict[str, str]
) -> Times:
    """Run all rounds; a side whose cell fails is removed from `running`, with its reason in `failed`."""
    times = Times()
    order = random.Random(SEED)
    for number in range(-WARM_UP, rounds):
        turns = [
            (one, condition)
            for one in running
            if number % one.side.every == 0 or number == -1
            for condition in one.side.conditions
        ]
        order.shuffle(turns)
        for one, condition in turns:
            if one in running:
                try:
                    _take_turn(one, condition, code, framework, times if number >= 0 else None)
                except _FAILURES as error:
                    running.remove(one)
                    one.stack.close()  # it may go on for minutes, beside the others
                    failed[one.name] = _reason(error)
    return times


def _take_turn(
    one: _Running, condition: Condition, code: str, framework: Framework, times: Times | None
) -> None:
    seconds, processor = _time_cell(one.kernel, condition, code, framework)
    parsing = one.kernel.value(_PARSING) if condition.name == OPS else (0.0, 0.0)
    if times is not None:
        place = one.name, condition.name
        times.seconds.setdefault(place, []).append(seconds - parsing[0])
        times.processor.setdefault(place, []).append(processor - parsing[1])
        if condition.name == OPS:
            times.parsing.append(parsing[0])


def _time_cell(kernel: Kernel, condition: Condition, cell: str, framework: Framework) -> tuple[float, float]:
    """Return seconds on the client's clock, and processor seconds of the kernel."""
    kernel.run(condition.before)
    kernel.settle()
    before = kernel.value(_PROCESSOR_TIME)
    kernel.wait_until_idle()
    seconds = kernel.run(condition.code(cell, framework), PATIENCE)
    kernel.settle()  # what follows the reply costs processor time, too
    return seconds, kernel.value(_PROCESSOR_TIME) - before


def _reason(error: Exception) -> str:
    if isinstance(error, queue.Empty):
        return f"a cell was not done after {PATIENCE:.0f} s (bare: {LENGTH:g} s)"
    return " ".join(str(error).split())[:300]


def table(title: str, workload: Workload, times: Times, notes: Sequence[str]) -> Table:
    """Compare each condition with bare, and --ops with the framework's profiler."""
    figures = [
        _figure(workload, times, side, condition) for side, condition in times.seconds if condition != BARE
    ]
    first = {LIGHT: 0, PROFILER: 1, OPS: 2}
    figures.sort(key=lambda one: first.get(one.name, len(first)))
    if times.parsing:
        notes = [
            f"Parsing of --ops, which is left out: {MS.text(median(times.parsing))} in the median.",
            *notes,
        ]
    return Table(title, figures, notes, value="added (--ops: ratio)")


def _figure(workload: Workload, times: Times, side: str, condition: str) -> Figure:
    beside = PROFILER if condition == OPS else BARE
    off, on = times.seconds[side, beside], times.seconds[side, condition]
    # A kernel that fell out in the middle of a round has one time more of one condition than of the other.
    pairs = [Pair(before, after) for before, after in zip(off, on, strict=False)]
    processor = [
        after - before
        for before, after in zip(
            times.processor[side, beside], times.processor[side, condition], strict=False
        )
    ]
    ratios, added = [pair.ratio for pair in pairs], [pair.difference for pair in pairs]
    columns = {
        "beside": beside,
        "pairs": str(len(pairs)),
        "its median": MS.text(median(off)),
        "median": MS.text(median(on)),
        "CPU added": with_interval(processor, MS),
    }
    data = {"pairs": [asdict(pair) for pair in pairs], "processor_added": processor}
    if condition == OPS:
        # A promise about training steps: a cell that does nothing has nothing to share the fixed cost.
        target = TARGET_OPS if workload.adjustable else None
        return median_figure(condition, ratios, RATIO, target, columns, **data)
    columns |= {"ratio": with_interval(ratios, RATIO)}
    target = TARGET_FIXED + TARGET_SHARE * median(off) if condition == LIGHT else None
    return median_figure(condition, added, MS, target, columns, **data)
