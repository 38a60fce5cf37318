"""Probes measure what they say."""

import time

from jupyter_mlgpu.probes.base import Unavailable
from jupyter_mlgpu.probes.process import CpuTime, MemoryInUse
from jupyter_mlgpu.probes.sampler import SampledPeak, Sampler
from tests.unit.memory import new_memory


def test_cpu_time_is_that_of_the_process_in_seconds():
    before = time.process_time()
    stop = CpuTime().start()
    while time.process_time() - before < 0.05:
        pass
    reading = stop()
    after = time.process_time()
    assert 0.04 < reading.value <= after - before
    assert (reading.unit, reading.scope) == ("s", "process")


def test_the_sampler_sees_a_block_that_stays_and_counts_its_looks():
    stop = SampledPeak(Sampler()).start()
    block = new_memory()
    with_block = stop()
    block.close()
    without = SampledPeak(Sampler()).start()()
    assert with_block.value - without.value > 48 * 1024**2
    assert with_block.samples >= 2
    assert "50 ms" in with_block.source


def test_memory_when_the_cell_has_ended_holds_what_stays_and_not_what_was_let_go():
    start = MemoryInUse().start()().value
    stays = new_memory()
    stop = MemoryInUse().start()
    goes = new_memory()
    goes.close()
    reading = stop()
    assert 48 * 1024**2 < reading.value - start < 96 * 1024**2
    assert (reading.quantity, reading.unit, reading.scope) == ("memory_process", "bytes", "process")
    stays.close()


def test_what_is_not_measured_says_so():
    reading = Unavailable("energy", "No counter.").start()()
    assert (reading.value, reading.why_missing) == (None, "No counter.")
