"""Measure what a cell costs without the extension, with a reference tree of the package, and with this tree.

    python -m benchmarks cell --reference 89d0df34 --pairs 24
    python -m benchmarks cell --reference 89d0df34 --pairs 12 --framework tensorflow
    python -m benchmarks cell --reference 89d0df34 --pairs 16 --second

A reference is a commit of this repository or a folder with the package; without one, the plain kernel and
this tree are compared. It needs ipykernel, jupyter_client, IPython and msgspec, and NumPy for one kind of
cell with `--second`; the trees need not be installed. Times are the client's, from sending a cell to its
reply or until the kernel is idle; loading is timed inside the kernel, too.

Each round starts a fresh kernel of each kind, in random order, and takes of each the time of `%load_ext`, the
medians of 25 empty cells and of 9 cells of 100 ms, and the CPU time of the kernel for an empty cell. With
`--framework`, that is imported before the extension is loaded, and 9 cells run many small operations of it.
Differences and ratios are taken within a round; the interval is that of their median.

With `--second`, cells do a fixed amount of work of about one second, calibrated once. A round is a fresh
kernel of each tree, side by side. They take turns, cell by cell, first without the extension and then with
it, and each kernel is compared with itself, because two processes of one Python differ in speed. A processor
does the same work in 0.97 or 1.03 s. So each cell also reports the processor time of its own thread, and the
rest of its second, the overhead, has a target of its own. In that time the thread waited for the GIL or for a
processor, or did what comes before and after the work.
"""

from __future__ import annotations

import argparse
import io
import random
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import NamedTuple

from benchmarks.kernel import KERNEL_PACKAGES, LOAD, Kernel, running_kernel
from benchmarks.report import (
    MEDIANS,
    MORE,
    MS,
    CannotMeasureError,
    Figure,
    Table,
    add_pairs,
    difference_figure,
    median_figure,
)
from benchmarks.statistics import Pair, calibrate

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = (*KERNEL_PACKAGES, "numpy")

NONE, REFERENCE, TREE = "no extension", "reference tree", "this tree"

LOADING, LOADING_INSIDE = "%load_ext", "%load_ext inside the kernel"
EMPTY, EMPTY_IDLE, EMPTY_CPU = "empty cell", "empty cell until idle", "CPU time of an empty cell"
BUSY, EAGER = "cell of 100 ms", "cell of small operations"
KINDS = (LOADING, LOADING_INSIDE, EMPTY, EMPTY_IDLE, EMPTY_CPU, BUSY, EAGER)
#: A busy cell computes instead of sleeping, so that work in other threads shows.
_BUSY_CODE = "_end = _time.perf_counter() + 0.1\nwhile _time.perf_counter() < _end: pass"
_LOAD_TIMED = (
    "_start = _time.perf_counter()\n"
    "get_ipython().run_line_magic('load_ext', 'jupyter_mlgpu')\n"
    "_seconds = _time.perf_counter() - _start"
)
#: Seconds between two short cells: a page is told of a record after that.
_PAUSE = 0.06
#: Of each framework, what is run before the extension is loaded, and a cell of many small operations.
FRAMEWORKS = {
    "tensorflow": (
        "import tensorflow as tf\n_one = tf.ones((8, 8))\n_one + _one",
        "for _ in range(2_000):\n    _one = _one * 0.5 + 0.5",
    ),
    "torch": (
        "import torch\n_one = torch.ones(8, 8)\n_one + _one",
        "for _ in range(5_000):\n    _one = _one * 0.5 + 0.5",
    ),
    "jax": (
        "import jax\n_step = jax.jit(lambda x: x * 0.5 + 0.5)\n_one = _step(jax.numpy.ones((8, 8)))",
        "for _ in range(1_000):\n    _one = _step(_one)\n_one.block_until_ready()",
    ),
}

#: A cell of one second may take 0.3 % longer than with the reference, and have 3 ms more of overhead.
TARGET = 1.003
TARGET_OVERHEAD = 0.003
#: Cells of each kind that a kernel runs without the extension, and with it.
TURNS = 6
#: NumPy's libraries of products read these.
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
_EMPTY_CELLS = 25


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the trees, and the length of the cells."""
    parser.add_argument("--reference", metavar="TREE", help="a commit, or a folder with the package")
    parser.add_argument("--tree", metavar="TREE", default=str(ROOT), help="another tree in place of this one")
    parser.add_argument("--framework", choices=sorted(FRAMEWORKS), help="cells of its small operations, too")
    parser.add_argument("--second", action="store_true", help="cells of one second of fixed work")
    add_pairs(parser, 24, "rounds of fresh kernels")


def measure(options: argparse.Namespace) -> Iterator[Table]:
    """Measure short cells, or those of one second."""
    with ExitStack() as stack:
        trees = {TREE: stack.enter_context(package_folder(options.tree))}
        if options.reference:
            trees = {REFERENCE: stack.enter_context(package_folder(options.reference)), **trees}
        if not options.second:
            yield _short_cells({NONE: None, **trees}, options.pairs, options.framework)
        elif options.reference:
            yield from _second_cells(trees, options.pairs)
        else:
            raise CannotMeasureError("--second compares two trees: give one with --reference.")


@contextmanager
def package_folder(tree: str) -> Iterator[str]:
    """Yield the absolute path of a folder with the package; a commit is unpacked into a temporary one."""
    if (Path(tree) / "jupyter_mlgpu").is_dir():
        yield str(Path(tree).resolve())
        return
    command = ["git", "-C", str(ROOT), "archive", tree, "jupyter_mlgpu"]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip()
        raise CannotMeasureError(f"{tree} is no folder with the package, and no commit that git knows: {why}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
            archive.extractall(folder, filter="data")
        yield str(Path(folder).resolve())


def _check(kernel: Kernel, tree: str) -> None:
    file = kernel.value("__import__('jupyter_mlgpu').__file__")
    if not str(file).startswith(tree):
        raise CannotMeasureError(f"A kernel has loaded {file}, which does not lie in {tree}.")


# -- short cells ----------------------------------------------------------------------------------


def _short_cells(trees: Mapping[str, str | None], rounds: int, framework: str | None) -> Table:
    for tree in trees.values():
        _short_kernel(tree, framework)  # writes bytecode, if it is kept
    measured = [_short_round(trees, framework) for _ in range(rounds)]
    method = f"{rounds} rounds of fresh kernels in random order. {MEDIANS}"
    title = "What a cell, and loading, take more"
    if framework is not None:
        title += f", with {framework} imported"
    return Table(title, short_figures(measured), method=method)


def _short_round(trees: Mapping[str, str | None], framework: str | None) -> dict[str, dict[str, float]]:
    order = random.sample(list(trees), len(trees))
    found = {name: _short_kernel(trees[name], framework) for name in order}
    print(".", end="", flush=True, file=sys.stderr)
    return found


def _short_kernel(tree: str | None, framework: str | None) -> dict[str, float]:
    """Return the seconds of one fresh kernel, by what was measured."""
    found = {}
    setup, operations = FRAMEWORKS[framework] if framework is not None else ("pass", None)
    with running_kernel(_ONE_THREAD, tree) as kernel:
        _run_short(kernel, "import time as _time")
        _run_short(kernel, setup)
        if tree is not None:
            found[LOADING] = _run_short(kernel, _LOAD_TIMED)
            found[LOADING_INSIDE] = float(kernel.value("_seconds"))
            _check(kernel, tree)
        for _ in range(5):
            _run_short(kernel, "pass")
        before = kernel.cpu_seconds()
        kernel.wait_until_idle()
        cells = []
        for _ in range(_EMPTY_CELLS):
            cells.append(kernel.run_whole("pass"))
            time.sleep(_PAUSE)
        found[EMPTY_CPU] = (kernel.cpu_seconds() - before) / _EMPTY_CELLS
        found[EMPTY], found[EMPTY_IDLE] = map(median, zip(*cells, strict=True))
        found[BUSY] = median(_run_short(kernel, _BUSY_CODE) for _ in range(9))
        if operations is not None:
            _run_short(kernel, operations)
            found[EAGER] = median(_run_short(kernel, operations) for _ in range(9))
    return found


def _run_short(kernel: Kernel, code: str) -> float:
    seconds = kernel.run(code)
    time.sleep(_PAUSE)
    return seconds


def short_figures(measured: Sequence[Mapping[str, Mapping[str, float]]]) -> list[Figure]:
    """Compare all kinds of kernels with each other; `measured` has the seconds of each round by kernel."""
    figures = []
    for what in KINDS:
        for off, on in ((REFERENCE, TREE), (NONE, REFERENCE), (NONE, TREE)):
            if all(what in measured[0].get(name, {}) for name in (off, on)):
                pairs = [Pair(one[off][what], one[on][what]) for one in measured]
                figures.append(difference_figure(f"{what}: {on} less {off}", pairs))
    return figures


# -- cells of one second --------------------------------------------------------------------------


class Workload(NamedTuple):
    """A kind of cell: `code` does its work `{work}` times; `setup` is run once in each kernel."""

    code: str
    setup: str = ""


SLEEPING = "sleeping"
WORKLOADS = {
    # Its work is to sleep for one second: only what comes before and after can be longer.
    SLEEPING: Workload("_time.sleep({work})"),
    "busy Python": Workload("_sum = 0\nfor _number in range({work}):\n    _sum += _number % 7"),
}
if find_spec("numpy"):
    # On one thread, so that threads of products do not wait for each other.
    WORKLOADS["NumPy products"] = Workload(
        "for _ in range({work}):\n    _matrix @ _matrix",
        "import numpy as _np\n_matrix = _np.random.default_rng(0).random((512, 512), dtype='float32')",
    )
#: Around a cell's work: the processor time of its own thread.
_OWN = "_own = _time.thread_time()\n{code}\n_own = _time.thread_time() - _own"


class CellTime(NamedTuple):
    """Seconds of a cell from sending it to its reply, and its own thread's processor seconds of work."""

    seconds: float
    own: float

    @property
    def overhead(self) -> float:
        """Seconds in which the cell's thread waited, or did what comes before and after the work."""
        return self.seconds - self.own


#: The cells of one kernel by kind, in the order of the turns.
Times = Mapping[str, list[CellTime]]


@dataclass(frozen=True, slots=True)
class Round:
    """The times of one pair of kernels, by tree: without the extension, and with the tree loaded."""

    bare: Mapping[str, Times]
    loaded: Mapping[str, Times]

    def cost(self, tree: str, kind: str) -> float:
        """Return a cell's time with the tree loaded over the same kernel's without."""
        loaded, bare = ([one.seconds for one in times[tree][kind]] for times in (self.loaded, self.bare))
        return median(loaded) / median(bare)

    def overhead(self, tree: str, kind: str) -> float:
        """Return the overhead with the tree loaded, less that of the same kernel without, in seconds."""
        loaded, bare = ([one.overhead for one in times[tree][kind]] for times in (self.loaded, self.bare))
        return median(loaded) - median(bare)


def _second_cells(trees: Mapping[str, str], rounds: int) -> Iterator[Table]:
    work = _calibrated_work()
    yield from second_tables([_round(trees, work) for _ in range(rounds)], work)


def _calibrated_work() -> dict[str, int]:
    """Return how often a cell of each kind does its work in about a second."""
    found = {SLEEPING: 1}
    with _second_kernel(None) as kernel:
        kernel.run("import time as _time")
        for kind, workload in WORKLOADS.items():
            if kind != SLEEPING:
                kernel.run(workload.setup)
                found[kind] = calibrate(partial(_seconds, kernel, workload), 1.0)
    return found


def _time_cell(kernel: Kernel, workload: Workload, work: int) -> CellTime:
    return CellTime(*kernel.run_and_evaluate(_OWN.format(code=workload.code.format(work=work)), "_own"))


def _seconds(kernel: Kernel, workload: Workload, work: int) -> float:
    return _time_cell(kernel, workload, work).seconds


def _second_kernel(tree: str | None) -> AbstractContextManager[Kernel]:
    # One seed: where strings lie in dictionaries makes a loop of one kernel quicker than that of another.
    return running_kernel({"PYTHONHASHSEED": "0", **_ONE_THREAD}, tree)


def _round(trees: Mapping[str, str], work: Mapping[str, int]) -> Round:
    with ExitStack() as stack:
        order = random.sample(sorted(trees), len(trees))
        started = {name: stack.enter_context(_second_kernel(trees[name])) for name in order}
        for kernel in started.values():
            kernel.run("import time as _time")
            for workload in WORKLOADS.values():
                kernel.run(workload.setup)
                _time_cell(kernel, workload, 1)
        bare = _turns(started, work)
        for name, kernel in started.items():
            kernel.run(LOAD)
            _check(kernel, trees[name])
            for kind, workload in WORKLOADS.items():  # the first cell of all imports what draws receipts
                _time_cell(kernel, workload, work[kind])
        loaded = _turns(started, work)
    print(".", end="", flush=True, file=sys.stderr)
    return Round(bare, loaded)


def _turns(started: Mapping[str, Kernel], work: Mapping[str, int]) -> Mapping[str, Times]:
    times: dict[str, dict[str, list[CellTime]]] = {name: {kind: [] for kind in WORKLOADS} for name in started}
    for turn in range(TURNS):
        names = list(started)[:: 1 if turn % 2 == 0 else -1]
        for kind, workload in WORKLOADS.items():
            for name in names:
                times[name][kind].append(_time_cell(started[name], workload, work[kind]))
                # Its receipt comes after the reply.
                started[name].wait_until_idle()
    return times


def second_tables(measured: Sequence[Round], work: Mapping[str, int]) -> list[Table]:
    """Compare this tree with the reference: the time of whole cells, and their overhead."""
    whole, overhead = [], []
    for kind in work:
        kernels_bare = [times[kind] for one in measured for times in one.bare.values()]
        bare = median(median(one.seconds for one in cells) for cells in kernels_bare)
        costs = {tree: [one.cost(tree, kind) for one in measured] for tree in (REFERENCE, TREE)}
        columns = {"work": f"{work[kind]:,}", "without": f"{bare:.4f} s"}
        columns |= {tree: MORE.text(median(costs[tree])) for tree in costs}
        ratios = [one / other for one, other in zip(costs[TREE], costs[REFERENCE], strict=True)]
        whole.append(median_figure(kind, ratios, MORE, TARGET, columns))
        seconds = {tree: [one.overhead(tree, kind) for one in measured] for tree in (REFERENCE, TREE)}
        columns = {tree: MS.text(median(seconds[tree])) for tree in seconds}
        differences = [one - other for one, other in zip(seconds[TREE], seconds[REFERENCE], strict=True)]
        overhead.append(median_figure(kind, differences, MS, TARGET_OVERHEAD, columns))
    method = (
        f"{len(measured)} rounds, {TURNS} cells of each kind without the extension and with it. {MEDIANS}"
    )
    each = "Both trees: over the same kernel's cells without the extension."
    title = "Its overhead, this less reference: seconds to the reply less processor time of its thread"
    return [
        Table("A cell of one second, this tree over the reference", whole, [each], method),
        Table(title, overhead, method=method),
    ]
