"""The benchmark on a real CUDA GPU: products of matrices against PyTorch's own best, and the other cases.

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_bench_on_gpu.py -s

PyTorch's own best is the fastest of three plain loops written here, over two sizes; ours and these run in
turn, five rounds. The table is printed, and written to the folder that JUPYTER_MLGPU_MEASUREMENTS names.
About six minutes.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from pathlib import Path
from statistics import median

import pytest

from jupyter_mlgpu.experiment.bench import session
from jupyter_mlgpu.experiment.bench.budget import Budget
from jupyter_mlgpu.experiment.bench.case import CaseRequest
from jupyter_mlgpu.experiment.bench.families import gemm
from jupyter_mlgpu.experiment.bench.machine import local_monitor
from jupyter_mlgpu.experiment.bench.measuring import measure
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.benchmarks import ConvolutionCase
from jupyter_mlgpu.record.clock import SystemClock
from jupyter_mlgpu.record.device_request import DeviceWord

SIZES = (8192, 16384)
ROUNDS = 5
#: Ours may be so much slower than PyTorch's own best.
WITHIN = 0.98
SECONDS = 0.4

# Else JAX takes three quarters of the memory that PyTorch's tests need.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def own(torch, type_: str, n: int) -> dict[str, float]:
    """TFLOP/s of three plain loops of PyTorch, with nothing of ours in them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.backends.cuda.matmul.allow_tf32 = type_ == "tf32"
    number = torch.float32 if type_ == "tf32" else getattr(torch, type_)
    a, b = (torch.randn(n, n, dtype=number, device="cuda") for _ in range(2))
    out = torch.empty_like(a)
    loops = {
        "mm, out": lambda: torch.mm(a, b, out=out),
        "a @ b": lambda: a @ b,
        "matmul, out": lambda: torch.matmul(a, b, out=out),
    }
    found = {}
    for name, product in loops.items():
        for _ in range(3):
            product()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        product()
        torch.cuda.synchronize()
        count = max(3, round(SECONDS / (time.perf_counter() - begun)))
        begun = time.perf_counter()
        for _ in range(count):
            product()
        torch.cuda.synchronize()
        found[name] = 2 * n**3 * count / (time.perf_counter() - begun) / 1e12
    return found


def ours(type_: str, n: int) -> float:
    """TFLOP/s as the benchmark gives them."""
    backend = registry.backend("torch")
    device = backend.devices()[-1]
    asked = CaseRequest("torch", device, False, local_monitor().free_memory(device))
    case = next(one for one in gemm(asked) if (one.type_asked, one.parameters["n"]) == (type_, n))
    result, error = measure(
        case,
        device,
        backend=backend,
        monitor=local_monitor(),
        clock=SystemClock(),
        budget=Budget(repeats=3, sample_s=SECONDS, warm_up_s=1.0),
    )
    assert error is None
    assert result.status == "ok", result.why
    assert result.type_ran == type_
    return result.tflops.value


@pytest.mark.parametrize("type_", ["float32", "tf32", "float16", "bfloat16", "float64"])
def test_products_are_within_two_percent_of_pytorchs_own_best(torch, type_):
    rounds = []
    for number in range(ROUNDS):
        one = {"own": {n: own(torch, type_, n) for n in SIZES}, "ours": {n: ours(type_, n) for n in SIZES}}
        rounds.append(one)
        best = max(max(loops.values()) for loops in one["own"].values())
        print(f"\n{type_}, round {number + 1}: PyTorch's own best {best:.1f} TFLOP/s, ours {one['ours']}")
    ratios = [
        max(one["ours"].values()) / max(max(loops.values()) for loops in one["own"].values())
        for one in rounds
    ]
    print(f"{type_}: ours over PyTorch's own best, median of {ROUNDS}: {median(ratios):.4f}, {ratios}")
    if folder := os.environ.get("JUPYTER_MLGPU_MEASUREMENTS"):
        path = Path(folder) / f"gemm_{type_}.json"
        path.write_text(json.dumps({"type": type_, "ratios": ratios, "rounds": rounds}, indent=1))
    assert median(ratios) >= WITHIN


@pytest.mark.parametrize("name", ["torch", "jax"])
def test_the_other_array_programs_work_on_a_gpu(request, name):
    request.getfixturevalue(name)
    device = registry.backend(name).find_devices()[-1]
    mine = registry.array_programs(name)
    runners = [
        *(mine.gemm(device, 256, type_) for type_ in ("float32", "tf32", "float16", "bfloat16", "float64")),
        *(mine.stream(device, operation, 1 << 20) for operation in ("add", "mult", "mult-add")),
        *(mine.transfer(device, way, 1 << 20) for way in ("to-device", "from-device", "ping-pong")),
        *(mine.conv(device, ConvolutionCase(2, 16, 32, one, "bfloat16")) for one in (False, True)),
        *(mine.dispatch(device, one) for one in (False, True)),
    ]
    for runner in runners:
        for steps in (1, 17):
            runner.run(steps)
            runner.wait()
        runner.close()


def test_a_quick_session_has_energy_memory_and_a_bandwidth(torch):
    order = session.Order(("gemm", "bandwidth"), ("torch",), DeviceWord("gpu"), quick=True)
    run = session.run(order, monitor=local_monitor(), clock=SystemClock()).run
    print(f"\n{run}")
    assert all(one.status == "ok" for one in run.results)
    large = [one for one in run.results if one.parameters.get("n") == 8192]
    assert all(one.peak_memory.value > 0 for one in large)
    assert all(one.watts.value or one.watts.why_missing for one in large)
    if folder := os.environ.get("JUPYTER_MLGPU_MEASUREMENTS"):
        run.save(Path(folder) / "quick.json")
