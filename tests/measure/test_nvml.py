"""NVML's figures come in our units; what it does not tell comes as a sentence and never as an exception."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.probes.gpus import find
from jupyter_mlgpu.measure.probes.nvml import GpuMemory, GpuProcess, Nvml, NvmlLibrary
from jupyter_mlgpu.measure.runtime import Runtime
from jupyter_mlgpu.testing import FakeBackend, FakeGpu, FakeNvml

GIB = 1024**3


def test_memory_name_and_driver_of_a_gpu():
    nvml = Nvml(FakeNvml(FakeGpu("NVIDIA H200", total=140 * GIB, used=3 * GIB)))
    assert nvml.count().value == 1
    assert nvml.name(0).value == "NVIDIA H200"
    assert nvml.driver().value == "580.1"
    assert nvml.memory(0).value == GpuMemory(140 * GIB, 3 * GIB, 137 * GIB)


def test_power_energy_temperature_and_use_are_in_watts_joules_degrees_and_shares():
    nvml = Nvml(FakeNvml(FakeGpu()))
    told = nvml.power(0), nvml.energy(0), nvml.temperature(0), nvml.utilisation(0)
    assert [one.value for one in told] == [150.0, 5000.0, 40, 0.25]


def test_a_process_that_computes_and_draws_is_told_once():
    nvml = Nvml(FakeNvml(FakeGpu(compute={7: 100}, graphics={7: 100, 9: 50})))
    assert nvml.processes(0).value == (GpuProcess(7, 100), GpuProcess(9, 50))


def test_the_memory_of_a_process_that_the_platform_does_not_tell_is_none():
    assert Nvml(FakeNvml(FakeGpu(compute={7: None}))).processes(0).value == (GpuProcess(7, None),)


def test_the_neighbours_on_a_gpu_are_all_processes_but_ours_where_it_lists_ours():
    shared = Nvml(FakeNvml(FakeGpu(compute={7: 100, 9: 50})))
    assert shared.neighbours(0, pid=7).value == 1
    assert shared.neighbours(0, pid=8).value is None
    assert "does not list this process" in shared.neighbours(0, pid=8).reason


def test_without_a_list_of_those_that_draw_there_are_those_that_compute():
    gpu = FakeGpu(compute={7: 100}, fails=("GraphicsRunningProcesses",))
    assert Nvml(FakeNvml(gpu)).processes(0).value == (GpuProcess(7, 100),)


def test_samples_that_began_before_a_moment_count_only_where_there_is_no_other():
    class Sampled(FakeNvml):
        def nvmlDeviceGetSamples(self, handle, kind, since):  # noqa: N802
            ended = ((100.1, 20), (100.3, 90), (100.5, 100))
            kept = [(at * 1e6, share) for at, share in ended if at * 1e6 > since]
            return 1, [
                SimpleNamespace(timeStamp=at, sampleValue=SimpleNamespace(uiVal=share)) for at, share in kept
            ]

    nvml = Nvml(Sampled(FakeGpu()))
    assert nvml.busy(0, 100.0).value == (pytest.approx(0.95), 2)
    assert nvml.busy(0, 100.2).value == (1.0, 1)
    assert nvml.busy(0, 100.4).value == (1.0, 1)
    assert "no sample falls within that time" in nvml.busy(0, 100.6).why_missing


def test_a_split_gpu_says_so():
    nvml = Nvml(FakeNvml(FakeGpu(mig=True), FakeGpu()))
    assert [nvml.split(0).value, nvml.split(1).value] == [True, False]


@pytest.mark.parametrize(
    ("asked", "function", "what"),
    [
        ("memory", "MemoryInfo", "the memory of GPU 0"),
        ("processes", "ComputeRunningProcesses", "the processes of GPU 0"),
        ("power", "PowerUsage", "the power of GPU 0"),
        ("energy", "TotalEnergyConsumption", "the energy of GPU 0"),
        ("temperature", "Temperature", "the temperature of GPU 0"),
        ("clock", "ClockInfo", "the clock rate of GPU 0"),
        ("utilisation", "UtilizationRates", "the utilization of GPU 0"),
        ("name", "Name", "the name of GPU 0"),
    ],
)
def test_what_is_not_told_is_a_sentence(asked, function, what):
    told = getattr(Nvml(FakeNvml(FakeGpu(fails=(function,)))), asked)(0)
    assert told.value is None
    assert told.why_missing == f"NVML does not report {what} (Not Supported)."


def test_a_gpu_that_is_not_there_is_a_sentence():
    assert "NVML does not report the memory of GPU 5" in Nvml(FakeNvml(FakeGpu())).memory(5).why_missing


def test_without_a_driver_every_answer_says_so():
    nvml = Nvml(FakeNvml(driver=False))
    assert nvml.count().why_missing == "No NVIDIA driver responds here (NVML Shared Library Not Found)."
    assert nvml.memory(0).why_missing == nvml.count().why_missing


def test_nvml_is_started_once():
    library = FakeNvml(FakeGpu())
    nvml = Nvml(library)
    nvml.count()
    nvml.memory(0)
    assert library.started == 1


def test_without_the_package_it_is_named_and_nothing_is_imported_before_it_is_asked():
    code = (
        "import sys\n"
        "from jupyter_mlgpu.measure.probes.nvml import Nvml\n"
        "nvml = Nvml()\n"
        "assert 'pynvml' not in sys.modules\n"
        "sys.modules['pynvml'] = None\n"  # as where it is not installed
        "print(nvml.count().why_missing)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "nvidia-ml-py" in done.stdout


USED = [name for name in vars(NvmlLibrary) if name.startswith(("nvml", "NVML"))] + list(
    NvmlLibrary.__annotations__
)


def test_what_is_used_of_pynvml_is_there():
    pynvml = pytest.importorskip("pynvml", reason="nvidia-ml-py is not installed here")
    assert len(USED) == 21
    assert [name for name in USED if not hasattr(pynvml, name)] == []
    told = Nvml().count()
    assert (told.value is None) == (told.why_missing is not None)


def test_the_fake_answers_all_that_is_used():
    fake = FakeNvml(FakeGpu())
    for name in USED:
        assert hasattr(fake, name), name


@pytest.mark.parametrize(("loaded", "told"), [((), {}), ((FakeBackend(),), {"GPU 0 (Fake GPU)": (0.25, 2)})])
def test_the_driver_is_asked_for_the_use_of_a_gpu_only_where_a_framework_can_have_used_it(
    loaded, told, monkeypatch
):
    monkeypatch.setattr(registry, "loaded", lambda: loaded)
    runtime = Runtime()
    runtime.gpus.known = find(Nvml(FakeNvml(FakeGpu())))
    assert runtime._gpus_busy(since=0.0) == told
    runtime.close()
