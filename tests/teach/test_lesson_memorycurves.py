"""The memory in use while some work runs: looked at beside it, from its beginning to its end."""

import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.probes.sampler import NAME, Sampler
from jupyter_mlgpu.teach.lessons import memory_during, memorycurves
from jupyter_mlgpu.testing.backend import FakeBackend

MIB = 2**20
HELD_BY_A_PROCESS = """
import mmap
from jupyter_mlgpu.teach.lessons import memory_during, memorycurves
memorycurves.gpu = lambda: None
memorycurves._onednn = lambda: None
kept = mmap.mmap(-1, 64 * 2**20)  # pages of its own: what was freed before is not taken again
curve = memory_during(lambda: kept.write(bytes(64 * 2**20)))
print(curve.points[-1][1] - curve.points[0][1])
print(curve.instrument)
"""


class LookedAt(FakeBackend):
    """A framework with a GPU, whose allocator tells when it was asked."""

    def __init__(self, in_use: int) -> None:
        super().__init__(devices=("gpu:0",))
        self.holds = {"gpu:0": in_use * MIB}
        self._asked = threading.Event()

    def memory(self, device):
        told = super().memory(device)
        self._asked.set()
        return told

    def hold(self, mib):
        """Hold so much from now on, and wait until that was seen."""
        self.holds["gpu:0"] = mib * MIB
        for _ in range(2):  # a look that is under way may still have the figure of before
            self._asked.clear()
            assert self._asked.wait(30)


@pytest.fixture
def on_gpu(monkeypatch):
    backend = LookedAt(in_use=10)
    monkeypatch.setattr(memorycurves, "gpu", lambda: (backend, backend.devices()[0]))
    return backend


def test_memory_that_rises_and_falls_within_the_work_is_seen_on_the_gpu_s_allocator(on_gpu):
    def step():
        for mib in (100, 300, 40):
            on_gpu.hold(mib)

    curve = memory_during(step)
    seconds, in_use = zip(*curve.points, strict=True)
    assert list(seconds) == sorted(seconds)
    assert seconds[0] < 1
    assert [mib for mib, before in zip(in_use[1:], in_use, strict=False) if mib != before] == [100, 300, 40]
    assert (in_use[0], in_use[-1]) == (10, 40)
    assert curve.instrument == "fake allocator of gpu:0"


def test_an_allocator_that_does_not_tell_is_left_for_what_the_process_holds(on_gpu):
    on_gpu.holds = {}
    assert "fake" not in memory_during(lambda: None).instrument


def test_without_a_gpu_the_process_is_looked_at_before_and_after():
    # In an interpreter of its own: what else a process does while it is looked at moves its memory, too.
    told = subprocess.run(
        [sys.executable, "-c", HELD_BY_A_PROCESS], capture_output=True, text=True, check=True
    )
    held, instrument = told.stdout.splitlines()
    assert 60 < float(held) < 80  # MiB
    assert instrument


def test_work_that_fails_is_looked_at_no_longer_and_its_error_is_the_user_s(on_gpu, monkeypatch):
    sampler = Sampler(linger=0)
    monkeypatch.setattr(memorycurves.runtime, "current", lambda: SimpleNamespace(sampler=sampler))
    threads = []

    def fails():
        on_gpu.hold(20)
        threads.extend(one for one in threading.enumerate() if one.name == NAME)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        memory_during(fails)
    sampler.close()  # it waits for the thread, which stays as long as there is something to look at
    assert threads
    assert [one for one in threading.enumerate() if one.name == NAME and one in threads[-1:]] == []


def test_a_look_that_fails_is_told_of_when_the_work_is_done(on_gpu, monkeypatch):
    broke, done = threading.Event(), []

    def breaks(device):
        broke.set()
        raise OSError("the driver is gone")

    def step():
        monkeypatch.setattr(on_gpu, "memory", breaks)
        assert broke.wait(30)
        done.append(True)

    with pytest.raises(OSError, match="driver is gone"):
        memory_during(step)
    assert done == [True]
