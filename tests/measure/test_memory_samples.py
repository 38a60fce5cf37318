"""Memory at one moment, as a kernel's account has it."""

import gc
import os

import psutil
import pytest

from jupyter_mlgpu.measure import memory_samples
from jupyter_mlgpu.measure.memory_samples import MemorySamples
from jupyter_mlgpu.measure.probes.lazy import Lazy

MIB = 1024**2


@pytest.fixture
def samples():
    made = MemorySamples(Lazy(lambda: None))
    yield made
    made.close()


def test_its_figures_are_those_of_psutil(samples):
    for _ in range(5):  # another process may end between the two
        sample, machine, swap = (
            samples.sample(7.0, afresh=True),
            psutil.virtual_memory(),
            psutil.swap_memory(),
        )
        used = machine.total - machine.available
        if abs(sample.machine_used - used) < 256 * MIB:
            break
    assert (sample.at, sample.machine_total, sample.swap_total) == (7.0, machine.total, swap.total)
    assert sample.machine_used == pytest.approx(used, abs=256 * MIB)
    assert sample.process == pytest.approx(psutil.Process().memory_info().rss, abs=16 * MIB)


def test_where_the_system_tells_it_otherwise_psutil_is_asked(samples, monkeypatch):
    monkeypatch.setattr(memory_samples.SystemFile, "read", lambda file: b"")
    sample = samples.sample(7.0, afresh=True)
    assert sample.machine_total == psutil.virtual_memory().total
    assert sample.process > MIB
    assert sample.oom_kills.machine is None


def test_a_limit_is_sought_again_after_a_minute_and_only_where_there_is_time(samples, monkeypatch):
    sought = []
    monkeypatch.setattr(memory_samples.memory, "tightest_limit", lambda total: sought.append(total))
    samples.sample(0.0, afresh=False)
    samples.sample(30.0, afresh=True)
    samples.sample(90.0, afresh=False)
    assert len(sought) == 1
    samples.sample(91.0, afresh=True)
    assert len(sought) == 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing lists the open files here")
def test_no_file_stays_open_after_the_end():
    gc.collect()  # what earlier tests have left open is closed now, and not meanwhile
    before = len(os.listdir("/proc/self/fd"))
    made = MemorySamples(Lazy(lambda: None))
    made.sample(0.0, afresh=True)
    assert len(os.listdir("/proc/self/fd")) > before
    made.close()
    assert len(os.listdir("/proc/self/fd")) == before
