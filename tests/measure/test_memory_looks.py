"""Memory at one moment, as a kernel's account has it."""

import gc
import os

import psutil
import pytest

from jupyter_mlgpu.measure import memory_looks
from jupyter_mlgpu.measure.memory_looks import MemoryLooks
from jupyter_mlgpu.measure.probes.lazy import Lazy

MIB = 1024**2


@pytest.fixture
def looks():
    made = MemoryLooks(Lazy(lambda: None))
    yield made
    made.close()


def test_its_figures_are_those_of_psutil(looks):
    for _ in range(5):  # another process may end between the two
        look, machine, swap = looks.look(7.0, afresh=True), psutil.virtual_memory(), psutil.swap_memory()
        used = machine.total - machine.available
        if abs(look.machine_used - used) < 256 * MIB:
            break
    assert (look.at, look.machine_total, look.swap_total) == (7.0, machine.total, swap.total)
    assert look.machine_used == pytest.approx(used, abs=256 * MIB)
    assert look.process == pytest.approx(psutil.Process().memory_info().rss, abs=16 * MIB)


def test_where_the_system_tells_it_otherwise_psutil_is_asked(looks, monkeypatch):
    monkeypatch.setattr(memory_looks.SystemFile, "read", lambda file: b"")
    look = looks.look(7.0, afresh=True)
    assert look.machine_total == psutil.virtual_memory().total
    assert look.process > MIB
    assert look.oom_kills.machine is None


def test_a_limit_is_sought_again_after_a_minute_and_only_where_there_is_time(looks, monkeypatch):
    sought = []
    monkeypatch.setattr(memory_looks.memory, "tightest_limit", lambda total: sought.append(total))
    looks.look(0.0, afresh=False)
    looks.look(30.0, afresh=True)
    looks.look(90.0, afresh=False)
    assert len(sought) == 1
    looks.look(91.0, afresh=True)
    assert len(sought) == 2


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing lists the open files here")
def test_no_file_stays_open_after_the_end():
    gc.collect()  # what earlier tests have left open is closed now, and not meanwhile
    before = len(os.listdir("/proc/self/fd"))
    made = MemoryLooks(Lazy(lambda: None))
    made.look(0.0, afresh=True)
    assert len(os.listdir("/proc/self/fd")) > before
    made.close()
    assert len(os.listdir("/proc/self/fd")) == before
