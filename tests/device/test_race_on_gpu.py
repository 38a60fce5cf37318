"""The race of a CPU against a real CUDA GPU, over matrix products from 10 to 8192. In the repository's root:

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_race_on_gpu.py -s

Where JUPYTER_MLGPU_MEASUREMENTS names a folder, the result, its chart and its table are written there. It
needs PyTorch and pytest, and neither plotly nor IPython. Without a GPU it is skipped, and says so.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jupyter_mlgpu.experiment.race import cell, fresh, racing
from jupyter_mlgpu.experiment.race.job import Job
from jupyter_mlgpu.experiment.race.options import RaceOptions
from jupyter_mlgpu.experiment.race.result import RaceResult
from jupyter_mlgpu.experiment.race.runner import RaceRunner
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.show.page import plotly
from jupyter_mlgpu.show.page.rendering import page_of

SIZES = (10, 32, 100, 316, 1000, 2048, 4096, 8192)
REPEATS = 10

# The operands are made once for each size, outside of what is compared: the product alone, on its device.
SETUP = """
import functools, torch
operand = functools.lru_cache(maxsize=1)(lambda n: torch.ones(n, n) / n)
"""
BODY = "x = operand(n)\nx @ x"

# As the classic experiment has it: what makes the operands is timed with the product.
ROW_BY_COLUMN = "torch.matmul(torch.ones(1, n), torch.ones(n, 1))"
LENGTHS = (100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000)


@pytest.fixture(scope="module")
def backend():
    pytest.importorskip("torch", reason="PyTorch is not installed here")
    found = registry.backend("torch")
    if found.devices()[-1].kind != "cuda":
        pytest.skip("PyTorch finds no CUDA GPU here")
    return found


def race(backend, body, sizes):
    """The race of the first CPU against the first GPU, in this process."""
    clock = SystemClock()
    raced = cell.PlainCell(
        cell.from_source(body, "<cell>"), setup=cell.from_source(SETUP, "<setup>"), variable="n"
    )
    runner = RaceRunner(backend, raced, sizes=sizes, repeats=REPEATS, clock=clock)
    devices = racing.devices_for((DeviceWord("cpu"), DeviceWord("gpu")), backend.find_devices())
    finished = racing.race(
        RaceOptions("n", sizes, REPEATS),
        body.splitlines()[-1],
        backend.name,
        devices,
        runner.lane,
        clock=clock,
        versions=backend.versions,
    )
    assert finished.error is None
    return finished.result


def keep(result: RaceResult, name: str) -> None:
    print(result)
    folder = os.environ.get("JUPYTER_MLGPU_MEASUREMENTS")
    if folder:
        target = Path(folder)
        result.save(target / f"{name}.json")
        (target / f"{name}.txt").write_text(repr(result), encoding="utf-8")
        drawn = plotly.figure(*page_of(result).charts)
        (target / f"{name}.plotly.json").write_text(json.dumps(drawn), encoding="utf-8")


@pytest.fixture(scope="module")
def products(backend):
    result = race(backend, BODY, SIZES)
    keep(result, "matrix-products")
    return result


def test_the_crossover_of_matrix_products_is_found(products):
    result = products
    assert [lane.device for lane in result.lanes] == ["cpu:0", "gpu:0"]
    assert all(len(one.samples) == REPEATS for lane in result.lanes for one in lane.timings)
    assert result.sizes == SIZES
    (found,) = result.crossovers
    assert found.why_missing is None
    assert (found.small, found.large) == ("cpu:0", "gpu:0")
    assert 10 < found.size < 8192
    cpu, gpu = (lane.at(8192) for lane in result.lanes)
    assert gpu.interval[1] < cpu.interval[0]


def test_a_product_of_8192_takes_the_gpu_no_less_than_it_can(products):
    """What was not waited for would take less: 2 x 8192^3 operations in 1.1 ms are a petaflop a second."""
    gpu = products.lanes[1].at(8192)
    assert min(gpu.samples) > 2 * 8192**3 / 1e15


def test_the_classic_row_by_column_experiment_runs_on_both(backend):
    result = race(backend, ROW_BY_COLUMN, LENGTHS)
    keep(result, "row-by-column")
    assert result.sizes == LENGTHS
    assert all(len(lane.timings) == len(LENGTHS) for lane in result.lanes)


def test_fresh_processes_see_one_device_each(backend):
    printed: list[str] = []
    processes = fresh.FreshProcess(on_output=printed.append, on_error=printed.append)
    there = processes.devices("torch")
    kinds = []
    for device in racing.devices_for((DeviceWord("cpu"), DeviceWord("gpu")), there):
        word, variables = fresh.hide_others(device, there)
        body = "print(torch.cuda.is_available(), torch.ones(n).device, flush=True)"
        job = Job("torch", word, body, SETUP, "n", (8,), 6)
        lane, error = processes.lane(job, device, variables)
        assert (error, lane.problem) == (None, None)
        assert len(lane.timings[0].samples) == 6
        kinds.append((lane.device, lane.kind))
    assert kinds == [("cpu:0", "cpu"), ("gpu:0", "cuda")]
    assert "".join(printed).splitlines() == ["False cpu", "True cuda:0"]
