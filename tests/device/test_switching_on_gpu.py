"""What is said of work that was asked onto a CUDA GPU, or off it, and of what stays where it is.

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_switching_on_gpu.py

For PyTorch and JAX. Without a GPU everything here is skipped, and says so.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.measure.selection import DeviceSelection
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.show.receipts import head


def run(name: str, cell: Callable[[], object], device: str, values: Mapping[str, Any]) -> Record:
    """The record of a cell that works on `values`, as the notebook makes it."""
    backends = lambda: [registry.backend(name)]  # noqa: E731
    selection = DeviceSelection(backends)
    selection.select(DeviceWord.parse(device))
    selection.enter()
    recorder = Recorder(new_run(None), clock=SystemClock(), probes=(), backends=backends, versions={})
    measurement = recorder.start("cell")
    kept = cell()
    chosen, requested = selection.devices(), selection.requested()
    selection.leave()
    record = measurement.stop(requested=requested)
    del kept
    for note in selection.stays(values, chosen):
        record = record.with_note(note)
    print(f"{name} asked for {device}: {head.where(record)}; {record.device.why_missing}; {record.notes}")
    return record


def test_a_torch_model_on_the_cpu_under_a_gpu_cell_is_named_and_the_gpu_is_not_claimed(torch):
    torch.cuda.synchronize()
    model, x = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 1)), torch.ones(8, 64)
    record = run("torch", lambda: model(x), "gpu", {"model": model, "x": x})
    assert record.notes == (
        (
            "The 4 weights of `model` and `x` live on cpu:0, not on gpu:0: PyTorch computes "
            "where the data is. `model.to('cuda:0')` moves the first."
        ),
    )
    assert record.device.ran_on is None
    assert "Allocations on gpu:0: 0." in record.device.why_missing


def test_a_torch_model_moved_to_the_gpu_is_not_mentioned_and_the_gpu_was_used(torch):
    model, x = torch.nn.Linear(64, 64).to("cuda"), torch.ones(8, 64, device="cuda")
    record = run("torch", lambda: model(x), "gpu", {"model": model, "x": x})
    assert record.notes == ()
    (entry,) = record.device.ran_on
    assert (entry.device, entry.kind, entry.evidence, entry.operations) == (
        "gpu:0",
        "cuda",
        "allocator",
        None,
    )
    assert head.where(record) == "used gpu:0"


def test_a_torch_model_on_the_gpu_under_a_cpu_cell_is_named_and_the_gpu_was_used(torch):
    model = torch.nn.Linear(64, 64).to("cuda")
    record = run("torch", lambda: model(torch.ones(8, 64, device="cuda")), "cpu", {"model": model})
    (note,) = record.notes
    assert note.startswith("The 2 weights of `model` live on gpu:0, not on cpu:0")
    assert head.where(record) == "asked for cpu:0, used gpu:0"


def test_without_a_cuda_context_nothing_can_have_run_on_the_gpu():
    pytest.importorskip("torch", reason="PyTorch is not installed here")
    code = (
        "import torch\n"
        "from jupyter_mlgpu.measure.frameworks import registry\n"
        "backend = registry.backend('torch')\n"
        "observation = backend.observe()\n"
        "kept = torch.ones(64, 64) @ torch.ones(64, 64)\n"
        "seen = observation.finish()\n"
        "print(seen.ran_on, seen.only)\n"
        "assert not torch.cuda.is_initialized()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "None cpu:0\n"


def test_a_jax_array_committed_to_the_cpu_under_a_gpu_cell_is_named(jax):
    w = jax.device_put(jax.numpy.ones((64, 64)), jax.devices("cpu")[0])
    record = run("jax", lambda: w @ w, "gpu", {"w": w})
    assert record.notes == (
        "`w` lives on cpu:0, not on gpu:0: JAX computes where the data is. "
        f"`w = jax.device_put(w, jax.devices({jax.devices()[0].platform!r})[0])` moves it.",
    )
    assert "cpu:0" in {entry.device for entry in record.device.ran_on}
    assert head.where(record).startswith("asked for gpu:0, used ")


def test_a_jax_cell_on_the_gpu_used_it(jax):
    x = jax.block_until_ready(jax.numpy.ones((64, 64)))
    record = run("jax", lambda: x @ x, "gpu", {"x": x})
    assert record.notes == ()
    assert {(entry.device, entry.evidence) for entry in record.device.ran_on} == {("gpu:0", "allocator")}


def test_a_jax_cell_asked_onto_the_cpu_left_the_gpus_allocator_alone(jax):
    record = run("jax", lambda: jax.numpy.ones((64, 64)) + 1, "cpu", {})
    assert {(entry.device, entry.evidence) for entry in record.device.ran_on} == {("cpu:0", "results")}
    assert head.where(record) == "used cpu:0"


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_what_looking_costs_is_printed(name, request):
    request.getfixturevalue(name)
    backend = registry.backend(name)
    watch, finish = [], []
    for _ in range(200):
        begun = time.perf_counter_ns()
        observation = backend.observe()
        between = time.perf_counter_ns()
        seen = observation.finish()
        finish.append((time.perf_counter_ns() - between) / 1e3)
        watch.append((between - begun) / 1e3)
    print(f"{name}: observe {statistics.median(watch):.0f} us, finish {statistics.median(finish):.0f} us")
    assert not seen.ran_on
