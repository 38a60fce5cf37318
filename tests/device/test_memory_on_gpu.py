"""Memory on a real CUDA GPU: the driver's figures, the allocators', and a leak. On a machine with one:

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_memory_on_gpu.py -s

Needs nvidia-ml-py and psutil beside PyTorch; where one is missing, the tests are skipped and say so.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from jupyter_mlgpu.explain import growth
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.allocator import RESERVED
from jupyter_mlgpu.measure.probes.cell.memory_process import MemoryInUse
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.show.receipts import growing

MIB = 1024**2
GIB = 1024**3

pytest.importorskip("psutil", reason="psutil is not installed here")


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="PyTorch is not installed here")
    if registry.backend("torch").devices()[-1].kind != "cuda":
        pytest.skip("PyTorch finds no CUDA GPU here")
    module.ones(1, device="cuda")  # makes the context, which takes memory of its own
    return module


@pytest.fixture(scope="module")
def nvml():
    room = Nvml()
    if room.count().value is None:
        pytest.skip(room.count().why_missing)
    return room


def held():
    """What the backend says of PyTorch's allocator on gpu:0, by quantity."""
    backend = registry.backend("torch")
    gpu = next(one for one in backend.devices() if one.name == "gpu:0")
    return {one.quantity: one.value for one in backend.memory(gpu)}


def test_the_drivers_figure_grows_by_what_torch_reserves(torch, nvml, index):
    torch.cuda.empty_cache()
    reserved, used = torch.cuda.memory_reserved(), nvml.memory(index).value.used
    block = torch.zeros(2 * GIB, dtype=torch.uint8, device="cuda")
    torch.cuda.synchronize()
    more_reserved = torch.cuda.memory_reserved() - reserved
    more_used = nvml.memory(index).value.used - used
    print(f"reserved {more_reserved / MIB:.0f} MiB more, NVML says {more_used / MIB:.0f} MiB more")
    del block
    torch.cuda.empty_cache()
    back = nvml.memory(index).value.used - used
    print(f"after giving it back, NVML says {back / MIB:.0f} MiB more than before")
    assert more_reserved >= 2 * GIB
    assert more_used == pytest.approx(more_reserved, abs=64 * MIB)
    assert abs(back) < 64 * MIB


def test_used_and_free_memory_are_the_total(nvml):
    for one in range(nvml.count().value):
        memory = nvml.memory(one).value
        assert memory.used + memory.free == pytest.approx(memory.total, abs=MIB)


def test_the_allocators_figure_is_what_torch_itself_tells(torch):
    block = torch.zeros(100 * MIB, dtype=torch.uint8, device="cuda")
    begun = time.perf_counter()
    told = held()
    print(f"asked in {(time.perf_counter() - begun) * 1e6:.0f} µs")
    assert told["memory_allocator"] == torch.cuda.memory_allocated(0) >= block.numel()
    assert told[RESERVED] == torch.cuda.memory_reserved(0)


def test_this_process_is_among_those_on_the_gpu_or_the_status_says_that_it_is_not(torch, nvml, index):
    from jupyter_mlgpu.jupyter.notebook.magics.memory import report

    processes = nvml.processes(index)
    shown = report(nvml, [registry.backend("torch")])
    print(f"\nNVML lists {processes}; this process is {os.getpid()}\n{shown}")
    if processes.value is None:
        assert processes.why_missing in shown
    elif any(one.pid == os.getpid() for one in processes.value):
        mine = next(one for one in processes.value if one.pid == os.getpid())
        assert f"process {os.getpid()}" in shown
        assert "this kernel" in shown
        assert mine.used is None or mine.used >= torch.cuda.memory_reserved()
    elif processes.value:
        assert "is not among the processes on a GPU" in shown
    assert "PyTorch gpu:0" in shown


def test_asking_for_the_memory_makes_no_cuda_context(torch):
    code = (
        "import torch\n"
        "from jupyter_mlgpu.jupyter.notebook.magics.memory import report\n"
        "print(report())\n"
        "assert not torch.cuda.is_initialized()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "PyTorch has not used a device yet, so its allocator was not queried." in done.stdout


def records_of(runs: int, cell):
    recorder = Recorder(
        new_run(None),
        clock=SystemClock(),
        probes=(MemoryInUse(),),
        backends=lambda: [registry.backend("torch")],
        versions={},
    )
    records = []
    for _ in range(runs):
        measurement = recorder.start("cell", source="cell")
        cell()
        records.append(measurement.stop())
    return records


def test_a_leak_on_the_gpu_is_found_and_its_interval_holds_it(torch):
    kept = []
    records = records_of(8, lambda: kept.append(torch.zeros(64 * MIB, dtype=torch.uint8, device="cuda")))
    found = growth.of_run(records[:-1], records[-1])
    print(growing.table([found]))
    print(growing.sentence(found))
    (allocator,) = [one for one in found.growths if one.quantity == "memory_allocator"]
    assert allocator.growing
    assert allocator.slope.low <= 64 * MIB <= allocator.slope.high


def test_a_cell_that_lets_go_on_the_gpu_is_not_suspected(torch):
    records = records_of(8, lambda: torch.zeros(64 * MIB, dtype=torch.uint8, device="cuda").sum())
    found = growth.of_run(records[:-1], records[-1])
    assert not any(one.growing for one in found.growths if one.quantity == "memory_allocator")


def test_what_jax_holds_is_what_its_device_tells():
    jax = pytest.importorskip("jax", reason="JAX is not installed here")
    backend = registry.backend("jax")
    gpu = backend.find_devices()[-1]
    if gpu.kind != "cuda":
        pytest.skip("JAX finds no CUDA GPU here")
    native = next(one for one in jax.devices() if str(one) == gpu.native_name)
    block = jax.block_until_ready(jax.device_put(jax.numpy.ones((1024, 1024)), native))
    told = {one.quantity: one.value for one in backend.memory(gpu)}
    print(f"JAX: {told}, {native.memory_stats()}")
    assert told["memory_allocator"] == native.memory_stats()["bytes_in_use"] >= block.nbytes


def test_power_temperature_use_and_energy_are_told_in_our_units(torch, nvml, index):
    x = torch.randn(4096, 4096, device="cuda")
    before, begun = nvml.energy(index), time.perf_counter()
    while time.perf_counter() - begun < 2:
        x @ x
        torch.cuda.synchronize()
    power, after, spent = nvml.power(index), nvml.energy(index), time.perf_counter() - begun
    print(f"power {power}, temperature {nvml.temperature(index)}, use {nvml.utilisation(index)}")
    for told in (power, nvml.temperature(index), nvml.utilisation(index), before, after):
        assert (told.value is None) != (told.why_missing is None)
    if power.value is not None:
        assert 10 < power.value < 2000
    if before.value is not None and after.value is not None:
        joules = after.value - before.value
        print(
            f"energy of {spent:.2f} s of matrix products: {joules:.0f} J, {joules / spent:.0f} W on average"
        )
        assert 10 * spent < joules < 2000 * spent
