"""Which meters measure on which machine, and that no other one is loaded."""

import subprocess
import sys

import pytest

from jupyter_mlgpu.measure.gpu import drm_clients, meters
from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
from jupyter_mlgpu.measure.gpu.gpu_meter import GpuMeter
from jupyter_mlgpu.measure.probes.sampler import Sampler


@pytest.fixture
def sampler():
    return Sampler(linger=0)


def test_a_mac_is_measured_by_the_drivers_count(sampler, monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    meter = meters.meter(sampler)
    assert isinstance(meter, ClientMeter)
    assert meter.clients.source == "IORegistry"


def test_a_linux_machine_with_a_gpu_of_another_maker_is_measured_by_both(sampler, monkeypatch, tmp_path):
    monkeypatch.setattr(meters, "_DRM", str(tmp_path))
    monkeypatch.setattr(drm_clients, "gpu_drivers", lambda: {"renderD128": "i915"})
    assert isinstance(meters.meter(sampler), meters.JointMeter)
    monkeypatch.setattr(drm_clients, "gpu_drivers", dict)
    assert isinstance(meters.meter(sampler), GpuMeter)


def test_a_linux_machine_without_such_a_gpu_loads_nothing_of_it():
    code = (
        "import sys; from jupyter_mlgpu.measure.gpu import meters; "
        "from jupyter_mlgpu.measure.probes.sampler import Sampler; "
        "meters._DRM = '/nowhere'; meters.meter(Sampler()); "
        "print([one for one in sys.modules if 'clients' in one or 'client_meter' in one or 'ioreg' in one])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
