"""What only a real CUDA GPU can show, for PyTorch and JAX. On a machine with one, in the repository's root:

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/measure/contract tests/device

The contract suite then runs on the GPU, too. Without a GPU everything here is skipped, and says so.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable

import pytest

from jupyter_mlgpu.measure.frameworks import hardware, registry
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.device_request import DeviceWord

SIZE = 4096


def recorder(name: str) -> Recorder:
    backends = lambda: [registry.backend(name)]  # noqa: E731
    return Recorder(new_run(None), clock=SystemClock(), probes=(), backends=backends, versions={})


def measured(name: str, cell: Callable[[], object], device: str | None = None):
    """The record of a cell, run as the notebook runs it."""
    selection = DeviceSelection(lambda: [registry.backend(name)])
    if device is not None:
        selection.select(DeviceWord.parse(device))
    selection.enter()
    measurement = recorder(name).start("cell")
    cell()
    selection.leave()
    return measurement.stop(requested=selection.requested())


def busy_while(cell: Callable[[], object]) -> list[int]:
    """How busy the driver says the GPU is, in percent, several times while a cell runs."""
    ask = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
    busy: list[int] = []
    over = threading.Event()

    def watch() -> None:
        while not over.is_set():
            said = subprocess.run(ask, capture_output=True, text=True, check=True).stdout
            busy.append(max(int(line) for line in said.split()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        cell()
    finally:
        over.set()
        watcher.join()
    return busy


@pytest.mark.parametrize(
    ("name", "started"),
    [
        ("torch", "torch.cuda.is_initialized()"),
        ("jax", "__import__('jax._src.xla_bridge')._src.xla_bridge.backends_are_initialized()"),
    ],
)
def test_nothing_of_ours_starts_the_gpu(name, started):
    pytest.importorskip(name, reason=f"{name} is not installed here")
    code = (
        "from jupyter_mlgpu.measure.frameworks import registry\n"
        f"import {name}\n"
        f"backend = registry.backend('{name}')\n"
        "devices = backend.devices()\n"
        "[backend.details(one) and backend.capabilities(one) for one in devices]\n"
        "scope = backend.enter(devices[-1])\n"
        "backend.started(); backend.synchronize(); backend.observe().finish(); backend.why_no_gpu()\n"
        "scope.leave()\n"
        f"assert not {started}\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_gpu_is_listed_with_its_name_memory_and_driver(torch):
    gpu = registry.backend("torch").devices()[-1]
    details = registry.backend("torch").details(gpu)
    assert details.hardware
    assert details.memory > 2**30
    assert "driver" in details.driver
    assert hardware.nvidia("gpu:0").driver == details.driver


def test_a_cell_of_two_seconds_of_asynchronous_products_is_timed_within_two_percent(torch):
    x = torch.randn(SIZE, SIZE, device="cuda") / SIZE
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def products(count: int) -> None:
        for _ in range(count):
            x @ x

    products(10)
    torch.cuda.synchronize()
    begun = time.perf_counter()
    products(20)
    torch.cuda.synchronize()
    count = max(20, round(2.0 / ((time.perf_counter() - begun) / 20)))
    dispatched = []

    def cell() -> None:
        cell_begun = time.perf_counter()
        begin.record()
        products(count)
        end.record()
        dispatched.append(time.perf_counter() - cell_begun)

    record = measured("torch", cell)
    events = begin.elapsed_time(end) / 1e3
    wall = record.reading("wall_time").value
    print(f"{count} products: events {events:.4f} s, wall {wall:.4f} s, dispatched in {dispatched[0]:.4f} s")
    assert events > 1.0
    assert wall == pytest.approx(events, rel=0.02)


def test_a_jax_cell_is_timed_with_the_work_that_goes_on_after_its_last_line(jax):
    product = jax.jit(lambda x: jax.lax.fori_loop(0, 1000, lambda _, y: y @ y / SIZE, x))
    x = jax.block_until_ready(product(jax.numpy.ones((SIZE, SIZE))))
    made = []
    record = measured("jax", lambda: made.extend([product(x), time.perf_counter()]))
    assert made[0].is_ready()
    begun = time.perf_counter()
    jax.block_until_ready(product(x))
    again = time.perf_counter() - begun
    wall = record.reading("wall_time").value
    print(f"JAX: wall {wall:.4f} s, waited for by hand {again:.4f} s")
    assert wall == pytest.approx(again, rel=0.1)


def test_a_cell_asked_onto_the_cpu_leaves_the_gpu_idle(torch):
    def cell() -> None:
        x = torch.randn(2048, 2048)
        begun = time.perf_counter()
        while time.perf_counter() - begun < 3:
            x @ x

    torch.cuda.synchronize()
    record = measured("torch", lambda: None, "cpu")
    busy = busy_while(lambda: measured("torch", cell, "cpu"))
    print(f"GPU busy while a cell ran on the CPU: {busy} %")
    assert record.device.requested == {"*": "cpu:0"}
    assert "Allocations on gpu:0: 0." in record.device.why_missing
    assert busy
    assert max(busy[len(busy) // 2 :]) == 0  # the first readings still average over what came before


def test_a_cell_asked_onto_the_gpu_keeps_it_busy(torch):
    def cell() -> None:
        x = torch.randn(SIZE, SIZE)
        begun = time.perf_counter()
        while time.perf_counter() - begun < 3:
            x @ x
            torch.cuda.synchronize()

    busy = busy_while(lambda: measured("torch", cell, "gpu"))
    print(f"GPU busy while a cell ran on it: {busy} %")
    assert max(busy) > 50


def test_the_allocators_tell_of_a_gpu_cell(torch):
    record = measured("torch", lambda: torch.ones(1024, 1024) + 1, "gpu")
    assert record.reading("peak_memory_allocator").value >= 2 * 4 * 1024**2
    (entry,) = record.device.ran_on
    assert (entry.device, entry.evidence) == ("gpu:0", "allocator")
    assert "memory was allocated here" in entry.why_missing


def test_a_numbered_gpu_that_is_missing_is_refused(torch):
    from jupyter_mlgpu.record.errors import DeviceError

    with pytest.raises(DeviceError, match="no device gpu:97 here"):
        DeviceSelection(lambda: [registry.backend("torch")]).select(DeviceWord.parse("gpu:97"))
