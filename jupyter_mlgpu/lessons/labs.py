"""Checks for labs over what was measured: `assert_gpu_used`, `peak_below`, `faster_than`.

Each gives a judgement that shows itself, and raises AssertionError with a sentence only where the
measurements show that it does not hold. What cannot be judged (not measured, too few runs) is said, and is
no error.

Runs are named by a cell's number as in `%mlc_trace show` (all runs of its code), by the name of a
`jupyter_mlgpu.trace("name")` block, or given as records.
"""

from __future__ import annotations

from jupyter_mlgpu.comparing import expect
from jupyter_mlgpu.comparing.expect import Judgement
from jupyter_mlgpu.errors import UsageError
from jupyter_mlgpu.tracing import Runs, records, runs_of


def assert_gpu_used(run: Runs | None = None) -> Judgement:
    """Whether a cell's work ran on a GPU: its last run, or that of the last cell measured.

    >>> assert_gpu_used()  # doctest: +SKIP
    ✓ holds: 'model.fit(x, y)' ran on gpu:0.
    """
    found = records() if run is None else runs_of(run)
    if not found:
        raise UsageError("No cell has been measured yet: run one with tracing on, then ask again.")
    return expect.required(expect.gpu_used(found[-1]))


def peak_below(run: Runs, limit: float, quantity: str = "peak_memory_process") -> Judgement:
    """Whether the median peak memory of runs is below `limit` bytes.

    `quantity` is peak_memory_process, peak_memory_allocator or peak_memory_device: three different things.

    >>> peak_below(3, 2 * 1024**3)  # doctest: +SKIP
    ✓ holds: Peak memory, process 512 MiB (median of 3 runs), below 2 GiB.
    """
    return expect.required(expect.peak_below(runs_of(run), limit, quantity))


def faster_than(fast: Runs, slow: Runs, times: float = 1.0) -> Judgement:
    """Whether the runs of `fast` take less wall time than those of `slow`, at least `times` times less.

    Four runs of each are enough for a judgement.

    >>> faster_than("with the graph", "without", times=2)  # doctest: +SKIP
    ○ cannot judge: 81.2 ms (1 run) beside 214 ms (1 run): one run each.
    """
    return expect.required(expect.faster_than(runs_of(fast), runs_of(slow), times))
