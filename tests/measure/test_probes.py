"""Probes measure what they say."""

import os
import time

import pytest

from jupyter_mlgpu.measure.probes.cell import peak_memory_process
from jupyter_mlgpu.measure.probes.cell.cpu_time import CpuTime
from jupyter_mlgpu.measure.probes.cell.memory_process import MemoryInUse
from jupyter_mlgpu.measure.probes.cell.peak_memory_process import ResettablePeak
from jupyter_mlgpu.measure.probes.sampled_peak import RESET, SampledPeak
from jupyter_mlgpu.measure.probes.sampler import Sampler
from jupyter_mlgpu.measure.runtime import Runtime
from tests.support.memory import new_memory
from tests.support.probes import Unavailable


def test_cpu_time_is_that_of_the_process_in_seconds():
    before = time.process_time()
    stop = CpuTime().start()
    while time.process_time() - before < 0.05:
        pass
    reading = stop()
    after = time.process_time()
    assert 0.04 < reading.value <= after - before
    assert (reading.unit, reading.scope) == ("s", "process")


@pytest.fixture
def peak():
    """The kernel's own peak, where there is one."""
    probe = peak_memory_process.probe(Runtime().instruments)
    if not isinstance(probe, ResettablePeak):
        pytest.skip("this system keeps no peak that can be reset")
    return probe


def peak_of(readings):
    return next(one.value for one in readings if one.quantity == "peak_memory_process")


def test_a_peak_that_the_cell_itself_has_begun_afresh_is_not_told_too_low(peak):
    stop = peak.start()
    new_memory().close()
    os.system("echo 5 > /proc/$PPID/clear_refs")
    readings = stop()
    assert [(one.value, one.why_missing) for one in readings] == [(None, RESET)] * 2
    assert peak_of(peak.start()()) > 0


def test_it_is_noticed_also_after_another_user_of_the_probe_has_closed_it(peak):
    peak.close()
    stop = peak.start()
    os.system("echo 5 > /proc/$PPID/clear_refs")
    assert peak_of(stop()) is None


def test_where_an_inner_cell_begins_the_peak_afresh_the_outer_one_does_not_know_it_either(peak):
    outer = peak.start()
    inner = peak.start()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    assert peak_of(inner()) is None
    assert peak_of(outer()) is None


@pytest.mark.usefixtures("no_collection")
def test_growth_is_what_the_peak_adds_to_the_memory_at_the_start(peak):
    stop = peak.start()
    new_memory().close()
    _, growth = stop()
    assert (growth.quantity, growth.unit, growth.scope) == ("memory_growth", "bytes", "process")
    assert 48 * 1024**2 < growth.value < 96 * 1024**2


@pytest.mark.usefixtures("no_collection")
def test_measurements_inside_each_other_lose_nothing_by_our_own_resets(peak):
    outer = peak.start()
    block = new_memory()
    block.close()
    inner = peak.start()
    within = peak_of(inner())
    assert peak_of(outer()) - within > 48 * 1024**2


@pytest.mark.usefixtures("no_collection")
def test_two_probes_of_a_process_share_the_one_counter(peak):
    outer = peak.start()
    block = new_memory()
    block.close()
    within = peak_of(ResettablePeak().start()())
    assert peak_of(outer()) - within > 48 * 1024**2


@pytest.mark.usefixtures("no_collection")
def test_the_sampler_sees_a_block_that_stays_and_counts_its_looks():
    stop = SampledPeak(Sampler()).start()
    block = new_memory()
    with_block, growth = stop()
    block.close()
    without, _ = SampledPeak(Sampler()).start()()
    assert with_block.value - without.value > 48 * 1024**2
    assert 48 * 1024**2 < growth.value < 96 * 1024**2
    assert with_block.samples >= 2
    assert "50 ms" in with_block.instrument


@pytest.mark.usefixtures("no_collection")
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
