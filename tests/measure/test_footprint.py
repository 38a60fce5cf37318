"""The physical footprint of a process on macOS, with a function in place of Apple's."""

import ctypes
import os
import sys
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.jupyter.notebook.magics import memory as status
from jupyter_mlgpu.measure.probes import footprint as probed
from jupyter_mlgpu.measure.probes import process_memory
from jupyter_mlgpu.measure.probes.footprint import _V0, _V4, Footprint, _Usage
from jupyter_mlgpu.measure.probes.process_memory import STATM
from jupyter_mlgpu.measure.probes.sampled_peak import SampledPeak
from jupyter_mlgpu.measure.probes.sampler import Sampler
from tests.support.waiting import until

GIB = 1024**3
#: Bytes of the structures of the two flavors, by a C compiler from xnu's bsd/sys/resource.h.
SIZES = {_V0: 96, _V4: 296}


class Kernel:
    """The kernel's counters of this process, as `proc_pid_rusage` gives them out."""

    def __init__(self):
        self.now = self.highest = GIB
        self.code = 0
        self.samples = 0

    def load(self, path):
        assert path == "/usr/lib/libSystem.B.dylib"

        def proc_pid_rusage(pid, flavor, buffer):
            assert pid == os.getpid()
            self.samples += flavor == _V0
            usage = _Usage()
            usage.ri_phys_footprint, usage.ri_lifetime_max_phys_footprint = self.now, self.highest
            ctypes.memmove(buffer, ctypes.byref(usage), SIZES[flavor])
            return self.code

        return SimpleNamespace(proc_pid_rusage=proc_pid_rusage)

    def grow(self, size):
        self.now = size
        self.highest = max(self.highest, size)


@pytest.fixture
def kernel():
    return Kernel()


@pytest.fixture
def footprint(kernel):
    return Footprint(kernel.load)


@pytest.fixture
def sampler():
    sampler = Sampler()
    yield sampler
    sampler.close()


@pytest.fixture
def mac(monkeypatch, footprint):
    """A process that has a footprint and no /proc."""

    def absent(path, size):
        raise FileNotFoundError(path)

    monkeypatch.setattr(process_memory, "read_once", absent)
    monkeypatch.setattr(probed, "footprint", lambda: footprint)


def test_the_structure_has_apples_layout():
    assert ctypes.sizeof(_Usage) == SIZES[_V4]
    assert _Usage.ri_phys_footprint.offset == 72
    assert _Usage.ri_lifetime_max_phys_footprint.offset == 240


def test_the_footprint_and_its_highest_are_the_kernels(kernel, footprint):
    kernel.grow(3 * GIB)
    kernel.grow(2 * GIB)
    assert (footprint.read(), footprint.highest()) == (2 * GIB, 3 * GIB)


def test_a_refused_call_is_an_error_and_not_zero(kernel, footprint):
    kernel.code = -1
    with pytest.raises(OSError, match="refused"):
        footprint.read()


def test_a_system_without_the_function_has_no_footprint():
    with pytest.raises(OSError, match="no proc_pid_rusage"):
        Footprint(lambda path: SimpleNamespace())


@pytest.mark.skipif(sys.platform == "darwin", reason="for other systems")
def test_only_macos_has_a_footprint():
    probed.footprint.cache_clear()
    assert probed.footprint() is None
    assert process_memory.process_memory()[1] == STATM


@pytest.mark.skipif(sys.platform != "darwin", reason="for macOS")
def test_on_macos_the_footprint_is_read():
    probed.footprint.cache_clear()
    found = probed.footprint()
    assert found is not None
    assert 0 < found.read() <= found.highest()


@pytest.mark.usefixtures("mac")
def test_on_a_mac_the_memory_of_the_process_is_its_footprint(kernel):
    kernel.grow(5 * GIB)
    assert process_memory.process_memory() == (5 * GIB, probed.SOURCE)
    (line,) = [line for line in status.report(backends=()).splitlines() if "this process" in line]
    assert "5 GiB" in line
    assert "physical footprint (proc_pid_rusage)" in line


def test_a_new_highest_footprint_is_the_cells_exact_peak(kernel, footprint, sampler):
    stop = SampledPeak(sampler, footprint).start()
    kernel.grow(4 * GIB)  # and back before any sample
    kernel.grow(GIB)
    peak, growth = stop()
    assert (peak.value, growth.value) == (4 * GIB, 3 * GIB)
    assert peak.samples == 1
    assert "its highest so far" in peak.instrument


def test_below_an_earlier_highest_the_peak_is_sampled(kernel, footprint, sampler):
    kernel.grow(8 * GIB)
    kernel.grow(GIB)
    stop = SampledPeak(sampler, footprint).start()
    kernel.grow(2 * GIB)
    before = kernel.samples
    until(lambda: kernel.samples > before)
    kernel.grow(GIB)
    peak, growth = stop()
    assert (peak.value, growth.value) == (2 * GIB, GIB)
    assert peak.samples >= 3
    assert "physical footprint (proc_pid_rusage), every 50 ms" in peak.instrument
