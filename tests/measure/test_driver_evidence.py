"""What a Mac's count of GPU time proves of where a cell ran, and what it does not."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from jupyter_mlgpu.explain.comparing import expect
from jupyter_mlgpu.measure.frameworks import evidence
from jupyter_mlgpu.measure.frameworks.base import Device, Observed
from jupyter_mlgpu.measure.frameworks.mlx.backend import MlxBackend
from jupyter_mlgpu.measure.frameworks.torch.backend import TorchBackend
from jupyter_mlgpu.measure.gpu.client_meter import ClientMeter
from jupyter_mlgpu.measure.gpu.mac_clients import MacClients
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.recorder import Recorder, new_run
from jupyter_mlgpu.record.record import Record
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.show.receipts import head
from jupyter_mlgpu.testing import FakeBackend, FakeClock, FakeRegistry

PID = 4245


class Mac:
    """A Mac with a recorder and the frameworks given; `client` is this process's use of the GPU."""

    def __init__(self, *backends):
        self.registry = FakeRegistry()
        self.client = self.registry.open(PID)
        self.clock = FakeClock()
        clients = MacClients(lambda: self.registry, lambda: PID)
        meter = ClientMeter(clients, Sampler(linger=0), lambda: self.clock.monotonic_ns() / 1e9)
        self.recorder = Recorder(
            new_run(None),
            clock=self.clock,
            probes=(),
            backends=lambda: backends,
            versions={"torch": "2.13.0"},
            gpu=lambda: meter,
        )

    def cell(self, seconds=0.4, run=lambda: None) -> Record:
        cell = self.recorder.start("cell")
        run()
        if seconds:
            self.registry.work(self.client, seconds)
        self.clock.advance(1.0)
        return cell.stop()


class Metal(FakeBackend):
    """A framework with the Mac's GPU."""

    def __init__(self, name):
        super().__init__(name)
        self._devices = (Device(name, "cpu:0", "cpu", "cpu"), Device(name, "gpu:0", "metal", "gpu"))


class Silent(Metal):
    """One of those that do not tell where operations ran."""

    def observe(self):
        why = Sentence(f"{self.name} does not report where its operations ran.")
        return SimpleNamespace(finish=lambda: Observed(None, why))


class Worked(Metal):
    """One that worked in each cell, and tells only its default device: the number in `default`."""

    def __init__(self, name, default):
        super().__init__(name)
        self.default = default

    def observe(self):
        found = evidence.default_device(self._devices[self.default])
        return SimpleNamespace(finish=lambda: Observed((found,), None, worked=True))


@pytest.fixture
def torch(monkeypatch):
    """PyTorch on a Mac, as far as its backend asks for it."""
    mps = SimpleNamespace(
        synchronize=lambda: None, current_allocated_memory=lambda: 5, driver_allocated_memory=lambda: 9
    )
    module = ModuleType("torch")
    vars(module).update(
        __version__="2.13.0",
        cuda=SimpleNamespace(device_count=lambda: 0, is_initialized=lambda: False),
        mps=mps,
        version=SimpleNamespace(hip=None, cuda=None),
        backends=SimpleNamespace(mps=SimpleNamespace(is_available=lambda: True)),
        _C=SimpleNamespace(_autograd=SimpleNamespace()),
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    return TorchBackend()


@pytest.fixture
def mlx(monkeypatch):
    """MLX on a Mac, as far as its backend asks for it."""
    core = ModuleType("mlx.core")
    vars(core).update(
        __version__="0.32.4",
        cpu="cpu",
        gpu="gpu",
        Device=lambda kind, number: f"Device({kind}, {number})",
        default_device=lambda: "Device(gpu, 0)",
        device_count=lambda kind: 1,
        metal=SimpleNamespace(is_available=lambda: True),
        synchronize=lambda device: None,
        get_active_memory=lambda: 5,
        get_cache_memory=lambda: 0,
        get_peak_memory=lambda: 9,
        reset_peak_memory=lambda: None,
    )
    monkeypatch.setitem(sys.modules, "mlx.core", core)
    return MlxBackend()


@pytest.mark.parametrize("framework", ["torch", "mlx"])
def test_a_cell_for_which_the_gpu_worked_used_it(framework, request):
    record = Mac(request.getfixturevalue(framework)).cell()
    (entry,) = record.device.ran_on
    assert (entry.framework, entry.device, entry.kind) == (framework, "gpu:0", "metal")
    assert (entry.evidence, entry.operations, entry.share) == ("driver", None, None)
    assert "More may have run elsewhere" in entry.why_missing
    assert head.where(record) == "used gpu:0"
    assert "GPU busy about 40 %" in head.of(record).line
    assert Record.from_json(record.to_json()) == record


def test_what_mlx_says_of_work_that_is_put_off_stays(mlx):
    assert "mx.eval" in Mac(mlx).cell().device.why_missing


def test_a_count_that_did_not_grow_proves_nothing(torch):
    record = Mac(torch).cell(seconds=0)
    assert record.device.ran_on is None
    assert head.where(record) == "device not known"
    assert record.reading("device_time").value is None


def test_work_of_one_of_two_frameworks_is_not_given_to_either():
    record = Mac(Silent("torch"), Silent("mlx")).cell()
    assert record.device.ran_on is None
    assert "which of PyTorch, MLX used it is not known" in record.device.why_missing
    assert record.reading("device_time").value == pytest.approx(0.4)


def places(record):
    return [(one.framework, one.device, one.evidence) for one in record.device.ran_on]


def test_the_count_proves_more_than_a_default_device():
    assert places(Mac(Worked("mlx", 1)).cell()) == [("mlx", "gpu:0", "driver")]
    assert places(Mac(Worked("mlx", 1)).cell(seconds=0)) == [("mlx", "gpu:0", "default device")]


def test_a_default_device_on_the_cpu_does_not_explain_the_gpus_time():
    assert places(Mac(Worked("mlx", 0)).cell()) == [
        ("mlx", "cpu:0", "default device"),
        ("mlx", "gpu:0", "driver"),
    ]


def test_of_two_frameworks_a_default_device_stays_and_the_gpus_time_is_given_to_neither():
    record = Mac(Worked("mlx", 1), Silent("torch")).cell()
    assert places(record) == [("mlx", "gpu:0", "default device")]
    assert "which of MLX, PyTorch used it is not known" in record.device.why_missing


def test_work_that_is_counted_of_one_framework_says_nothing_of_another():
    counted = Metal("tensorflow")
    record = Mac(counted, Silent("mlx")).cell(run=lambda: counted.run(3, "gpu:0"))
    assert {(one.framework, one.evidence) for one in record.device.ran_on} == {("tensorflow", "counted")}


def test_operations_on_the_processor_do_not_explain_the_gpus_time():
    counted = Metal("tensorflow")
    record = Mac(counted, Silent("mlx")).cell(run=lambda: counted.run(3, "cpu:0"))
    assert {(one.framework, one.device) for one in record.device.ran_on} == {
        ("tensorflow", "cpu:0"),
        ("mlx", "gpu:0"),
    }


def test_a_framework_without_the_macs_gpu_cannot_have_used_it():
    record = Mac(FakeBackend("jax", ("cpu:0",)), Silent("mlx")).cell()
    assert [one.framework for one in record.device.ran_on] == ["mlx"]


def test_on_a_mac_with_two_gpus_it_is_not_known_which_one_a_framework_uses():
    mac = Mac(Silent("torch"))
    mac.registry.services_found.append(FakeRegistry().gpu)
    mac.registry.services_found[1].number += 1
    record = mac.cell()
    assert record.device.ran_on is None
    assert record.reading("device_time").device == "GPU 0"


def test_an_expectation_of_a_gpu_holds_where_the_count_grew_and_is_not_judged_where_it_did_not(torch):
    mac = Mac(torch)
    assert expect.gpu_used(mac.cell()).state == "holds"
    assert expect.gpu_used(mac.cell(seconds=0)).state == "cannot judge"
