"""PyTorch and JAX on a real CUDA GPU; where there is none, their tests are skipped and say why."""

from __future__ import annotations

import os

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.runtime import Runtime

# Where both run in one process, JAX would take three quarters of the GPU's memory.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

#: It profiles JAX, which needs CUPTI, of which a process has one; PyTorch's profiler keeps it once it has it.
BEFORE_PYTORCH = "test_jaxs_device_time_and_self_times_are_those_of_its_chrome_trace"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.name != BEFORE_PYTORCH)


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="PyTorch is not installed here")
    if registry.backend("torch").devices()[-1].kind != "cuda":
        pytest.skip("PyTorch finds no CUDA GPU here")
    return module


@pytest.fixture(scope="module")
def index(torch):
    """NVML's number of PyTorch's first GPU: both tell its UUID."""
    nvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed here")
    nvml.nvmlInit()
    handles = [nvml.nvmlDeviceGetHandleByIndex(one) for one in range(nvml.nvmlDeviceGetCount())]
    mine = str(torch.cuda.get_device_properties(0).uuid).removeprefix("GPU-")
    return [nvml.nvmlDeviceGetUUID(one).removeprefix("GPU-") for one in handles].index(mine)


@pytest.fixture(scope="module")
def jax():
    module = pytest.importorskip("jax", reason="JAX is not installed here")
    if registry.backend("jax").find_devices()[-1].kind != "cuda":
        pytest.skip("JAX finds no CUDA GPU here")
    return module


@pytest.fixture
def runtime(torch):
    """Measures cells, with the records of GPUs switched on."""
    torch.ones(1, device="cuda").add_(1)
    made = Runtime()
    made.recorder.start("switches the records on").stop()
    yield made
    made.close()
