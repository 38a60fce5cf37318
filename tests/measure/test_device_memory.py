"""The peak of a GPU's memory is the most of what was seen, both ends of the cell among it."""

import pytest

from jupyter_mlgpu.measure.probes import gpus, memory
from jupyter_mlgpu.measure.probes.cell import peak_memory_device
from jupyter_mlgpu.measure.probes.cell.peak_memory_device import TOO_SHORT, PeakDeviceMemory
from jupyter_mlgpu.measure.probes.lazy import Lazy
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.testing import FakeClock, FakeGpu, FakeNvml
from jupyter_mlgpu.testing.counters import FakeSampler

GIB = 1024**3


class Bench:
    def __init__(self, *cards, driver=True, known=True):
        self.sampler = FakeSampler(FakeClock())
        self.gpus = Lazy(lambda: gpus.find(Nvml(FakeNvml(*cards, driver=driver))))
        if known:
            self.gpus.get()
        self.start = PeakDeviceMemory(self.sampler, self.gpus).start


@pytest.fixture(autouse=True)
def _no_mac(monkeypatch):
    monkeypatch.setattr(memory, "unified", lambda: False)


def test_the_peak_is_the_most_that_was_seen_while_the_cell_ran():
    card = FakeGpu("NVIDIA H200", used=2 * GIB)
    bench = Bench(card)
    stop = bench.start()
    bench.sampler.run(0.1)
    card.used = 9 * GIB
    bench.sampler.run(0.1)
    card.used = 3 * GIB
    bench.sampler.run(0.1)
    (reading,) = stop()
    assert (reading.value, reading.unit, reading.scope) == (9 * GIB, "bytes", "device")
    assert reading.samples == 2 + 6
    assert reading.instrument == ("NVML, all processes on GPU 0 (NVIDIA H200), every 50 ms")
    assert bench.sampler.job_count == 0


def test_a_cell_that_is_over_at_once_has_the_looks_at_both_ends():
    card = FakeGpu(used=2 * GIB)
    stop = Bench(card).start()
    card.used = 5 * GIB
    (reading,) = stop()
    assert (reading.value, reading.samples) == (5 * GIB, 2)


def test_each_gpu_has_a_reading_of_its_own():
    readings = Bench(FakeGpu(used=GIB), FakeGpu(used=7 * GIB)).start()()
    assert [one.value for one in readings] == [GIB, 7 * GIB]


def test_a_gpu_that_stops_answering_is_a_reason_and_the_other_keeps_its_figure():
    gone, there = FakeGpu(used=GIB), FakeGpu(used=7 * GIB)
    bench = Bench(gone, there)
    stop = bench.start()
    gone.fails = ("MemoryInfo",)
    bench.sampler.run(0.2)
    first, second = stop()
    assert (first.value, first.why_missing) == (
        None,
        "NVML does not report the memory of GPU 0 (Not Supported).",
    )
    assert second.value == 7 * GIB


def test_without_a_driver_the_driver_is_the_reason_and_nothing_is_looked_at():
    bench = Bench(driver=False)
    stop = bench.start()
    assert bench.sampler.job_count == 0
    assert [one.why_missing for one in stop()] == ["No NVIDIA driver was found here."]


def test_while_nvml_is_not_started_the_first_cell_does_not_wait_for_it():
    bench = Bench(FakeGpu(used=GIB), known=False)
    assert [one.why_missing for one in bench.start()()] == [TOO_SHORT]
    assert bench.gpus.known is None
    stop = bench.start()
    bench.sampler.run(0.2)
    assert [one.value for one in stop()] == [GIB]


def test_a_gpu_that_shares_the_machines_memory_says_so(monkeypatch):
    monkeypatch.setattr(peak_memory_device.memory, "unified", lambda: True)
    assert Bench(known=False).start()()[0].why_missing == peak_memory_device.UNIFIED
