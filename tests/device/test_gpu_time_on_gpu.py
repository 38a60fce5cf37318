"""GPU time of ordinary cells on a real CUDA GPU, beside what the frameworks' own profilers see. There:

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_gpu_time_on_gpu.py -s

Each cell runs six times measured as `trace` does, six times as a notebook's cell, where nobody waits for
the GPU, and six times with PyTorch's profiler, in every order. With the variable TABLE, the figures are
written to that file as JSON.
"""

from __future__ import annotations

import itertools
import json
import os
import statistics
from pathlib import Path

import pytest

from jupyter_mlgpu.measure.gpu.activity_switch import PROFILER
from jupyter_mlgpu.measure.runtime import Runtime
from tests.device import gpu_cells

#: Of the busy time, or in seconds where that is more.
WITHIN, AT_LEAST = 0.01, 0.0002

table: list[dict[str, object]] = []


@pytest.fixture(scope="module", autouse=True)
def written():
    yield
    for row in table:
        print(row)
    if "TABLE" in os.environ:
        Path(os.environ["TABLE"]).write_text(json.dumps(table, indent=1))


@pytest.fixture(scope="module")
def runtime():
    made = Runtime()
    yield made
    made.close()


def measured(runtime, work, *, waits=True):
    """The record of a cell that does this."""
    runtime.recorder.patient = True
    measurement = runtime.recorder.start("cell", waits=waits)
    work()
    return measurement.stop()


def launched(record):
    return sum(one.launches for one in record.gpu_work)


def busy(record):
    reading = record.reading("device_time")
    assert reading.value is not None, reading.why_missing
    assert (reading.source, reading.device) == ("CUPTI", "gpu:0")
    return reading.value


def union(intervals):
    total = reach = 0.0
    for start, end in sorted(intervals):
        total += max(0.0, end - max(start, reach))
        reach = max(reach, end)
    return total


@pytest.fixture(scope="module")
def cells(torch):
    return gpu_cells.of_torch(torch)


@pytest.fixture(scope="module")
def cells_of_jax(jax):
    return gpu_cells.of_jax(jax)


def of_profiler(torch, work):
    """Busy seconds and launches of a piece of work, as PyTorch's profiler sees it, whoever launches it."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        work()
        torch.cuda.synchronize()
    events = [one for one in seen.events() if str(one.device_type).endswith("CUDA")]
    return union((one.time_range.start, one.time_range.end) for one in events) / 1e6, len(events)


def test_busy_time_and_launches_are_those_of_pytorchs_profiler(torch, runtime, cells):
    differ = [name for name, work in cells.items() if not agrees(torch, runtime, name, work)]
    assert differ == []


def test_what_torch_compiles_is_seen_as_well(torch, runtime):
    try:
        cells = gpu_cells.compiled_by_torch(torch)
        for work in cells.values():
            work()
    except Exception as error:
        pytest.skip(f"torch.compile does not work here ({type(error).__name__}: {error!s:.200})")
    assert all(agrees(torch, runtime, name, work) for name, work in cells.items())


def test_busy_time_and_launches_of_jax_are_those_of_pytorchs_profiler(torch, runtime, cells_of_jax):
    differ = [name for name, work in cells_of_jax.items() if not agrees(torch, runtime, name, work)]
    assert differ == []


def agrees(torch, runtime, name, work):
    """Compare medians of ours, of cells nobody waits for, and of the profiler's, of the same work.

    Two runs of the same work may differ by more than one per cent: by as much as the profiler's own differ.
    What runs right after other work finds the GPU warm and at lower clocks, so each has every place in turn.
    """
    work()
    measured(runtime, work)
    runs = {
        "ours": lambda: of_record(measured(runtime, work)),
        "asynchronous": lambda: of_record(measured(runtime, work, waits=False)),
        "profiler": lambda: of_profiler(torch, work),
    }
    seconds, launches = {name: [] for name in runs}, set()
    for order in itertools.permutations(runs):
        for one in order:
            time, count = runs[one]()
            seconds[one].append(time)
            launches.add(count)
    ours, unfenced, theirs = (statistics.median(seconds[one]) for one in runs)
    spread = max(seconds["profiler"]) - min(seconds["profiler"])
    bound = max(WITHIN * theirs, AT_LEAST, spread)
    row = {
        "cell": name,
        "ours_ms": round(ours * 1e3, 3),
        "asynchronous_ms": round(unfenced * 1e3, 3),
        "profiler_ms": round(theirs * 1e3, 3),
        "profilers_spread_ms": round(spread * 1e3, 3),
        "launches": sorted(launches),
        "agrees": len(launches) == 1 and abs(ours - theirs) <= bound and abs(unfenced - theirs) <= bound,
    }
    table.append(row)
    return row["agrees"]


def of_record(record):
    """Busy seconds and launches of a measured cell."""
    return busy(record), launched(record)


def test_bytes_of_copies_are_exact(torch, runtime):
    host = torch.zeros(1_234_567, dtype=torch.uint8)

    def copy():
        for _ in range(3):
            host.to("cuda").cpu()

    (work,) = measured(runtime, copy).gpu_work
    assert {one.direction: (one.count, one.bytes) for one in work.copies} == {
        "host-to-device": (3, 3 * 1_234_567),
        "device-to-host": (3, 3 * 1_234_567),
    }


def test_a_profiler_of_the_users_sees_the_same_in_our_cell_as_without_us(torch, runtime, cells):
    from torch.profiler import ProfilerActivity, profile

    seen = []

    def profiled():
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            cells["5,000 additions of 64 x 64"]()
            torch.cuda.synchronize()
        seen.append(sum(str(one.device_type).endswith("CUDA") for one in profiler.events()))

    profiled()
    record = measured(runtime, profiled)
    assert record.reading("device_time").why_missing == PROFILER
    assert seen == [5_000, 5_000]
    assert busy(measured(runtime, cells["5,000 additions of 64 x 64"])) > 0


def test_a_cell_that_leaves_the_gpu_alone_says_so(torch, runtime):
    record = measured(runtime, lambda: sum(range(1000)))
    assert (busy(record), record.gpu_work) == (0.0, ())


def test_work_on_jax_is_seen_too(jax, runtime):
    import jax.numpy as jnp

    ones = jnp.ones((2048, 2048), jnp.bfloat16)
    multiply = jax.jit(lambda one: one @ one * 1e-4)
    loop = jax.jit(lambda one: jax.lax.fori_loop(0, 50, lambda _, it: it @ it * 1e-4, one))

    def products():
        result = ones
        for _ in range(100):
            result = multiply(result)

    products()
    loop(ones)
    (work,) = measured(runtime, products).gpu_work
    assert max(one.count for one in work.kernels) == 100
    (work,) = measured(runtime, lambda: loop(ones)).gpu_work
    assert max(one.count for one in work.kernels) == 50
