"""What a Mac's GPU should use at most, by the frameworks' own functions."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.notebook.magics import devices
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.base import Device, UsableMemory
from jupyter_mlgpu.measure.frameworks.mlx import backend as mlx
from jupyter_mlgpu.measure.frameworks.torch import backend as torch
from jupyter_mlgpu.testing import FakeBackend

GIB = 1024**3


def test_pytorch_asks_metal_for_its_gpu_alone(monkeypatch):
    mps = SimpleNamespace(recommended_max_memory=lambda: 11 * GIB)
    monkeypatch.setattr(torch, "_torch", lambda: SimpleNamespace(mps=mps))
    backend = torch.TorchBackend()
    gpu, cpu = Device("torch", "gpu:0", "metal", "mps"), Device("torch", "cpu:0", "cpu", "cpu")
    assert backend.usable_memory(gpu) == UsableMemory(11 * GIB, "torch.mps.recommended_max_memory")
    assert backend.usable_memory(cpu) is None


@pytest.mark.parametrize("info", [{"max_recommended_working_set_size": 11 * GIB}, {"memory_size": 16 * GIB}])
def test_mlx_reads_it_from_the_devices_information(monkeypatch, info):
    monkeypatch.setattr(mlx, "_mx", lambda: SimpleNamespace(device_info=lambda device: info))
    monkeypatch.setattr(mlx, "native", lambda device: device)
    found = mlx.MlxBackend().usable_memory(Device("mlx", "gpu:0", "metal", "gpu"))
    known = "max_recommended_working_set_size" in info
    assert found == (UsableMemory(11 * GIB, "mlx.core.device_info") if known else None)


def test_the_first_framework_that_reports_it_is_used(monkeypatch):
    class Failing(FakeBackend):
        def usable_memory(self, device):
            raise RuntimeError("no Metal")

    without, having = FakeBackend(), FakeBackend(devices=("cpu:0", "gpu:0"))
    having.usable["gpu:0"] = GIB
    monkeypatch.setattr(registry, "loaded", lambda: (Failing(), without, having))
    assert registry.usable_memory() == UsableMemory(GIB, "fake.recommended")
    monkeypatch.setattr(registry, "loaded", lambda: (without,))
    assert registry.usable_memory() is None


def test_the_list_of_devices_names_it():
    backend = FakeBackend(devices=("cpu:0", "gpu:0"))
    backend.usable["gpu:0"] = GIB
    cpu, gpu = (devices._line(backend, device) for device in backend.devices())
    assert "at most 1 GiB recommended for the GPU (fake.recommended)" in gpu
    assert "recommended" not in cpu
