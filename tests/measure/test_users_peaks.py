"""Who reads a framework's counter of peak memory reads what it would say without us."""

from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.users_peaks import join_peaks, users_peaks
from jupyter_mlgpu.testing.cuda import FakeCuda


class Allocator:
    """A framework with one allocator and a counter."""

    def __init__(self):
        self.used = self.peak = 0

    def use(self, size):
        self.used = size
        self.peak = max(self.peak, size)

    def get_peak(self):
        return self.peak

    def reset_peak(self):
        self.peak = self.used


@pytest.fixture
def allocator():
    return Allocator()


@pytest.fixture
def peaks(allocator):
    counter = users_peaks(allocator, "get_peak", "reset_peak")
    made = Peaks(counter.read, counter.reset)
    counter.before_reset[()] = made.note
    return made


def cell(peaks, work=lambda: None):
    mark = peaks.start()
    found = work()
    return peaks.finish(mark), found


def test_what_one_cell_reached_the_next_one_reads(allocator, peaks):
    def allocate():
        allocator.use(72)
        allocator.use(0)

    assert cell(peaks, allocate) == (72, None)
    assert cell(peaks, allocator.get_peak) == (0, 72)


def test_the_users_reset_counts_from_then_on_and_costs_no_cell_its_peak(allocator, peaks):
    def measure():
        allocator.use(72)
        allocator.use(10)
        allocator.reset_peak()
        allocator.use(30)
        allocator.use(0)
        return allocator.get_peak()

    assert cell(peaks, measure) == (72, 30)
    assert cell(peaks, allocator.get_peak) == (0, 30)


def test_the_functions_are_covered_once(allocator, peaks):
    covered = allocator.get_peak
    users_peaks(allocator, "get_peak", "reset_peak")
    assert allocator.get_peak is covered
    assert covered.__name__ == "get_peak"


def test_pytorchs_statistics_of_each_gpu_keep_their_peaks_and_all_else_is_as_found():
    gpus = FakeCuda(), FakeCuda()
    library = SimpleNamespace(
        stats=lambda index: gpus[index].memory_stats_as_nested_dict(index),
        reset=lambda index: gpus[index].reset_peak_memory_stats(index),
    )
    counter = users_peaks(library, "stats", "reset", join_peaks)
    for gpu, size in zip(gpus, (500, 700), strict=True):
        gpu.give(size)
        gpu.back(size)
    before = library.stats(0)
    counter.reset(0)
    assert counter.read(0)["allocated_bytes"]["all"]["peak"] == 0
    assert library.stats(0) == before
    gpus[0].give(100)
    now = library.stats(0)["allocated_bytes"]["all"]
    assert (now["peak"], now["current"]) == (500, 100)
    assert library.stats(1)["allocated_bytes"]["all"]["peak"] == 700
    library.reset(0)
    assert library.stats(0)["allocated_bytes"]["all"]["peak"] == 100


@pytest.mark.needs("mlx")
def test_mlxs_peak_is_the_users_own():
    import mlx.core as mx

    from jupyter_mlgpu.measure.frameworks.mlx.backend import MlxBackend

    backend = MlxBackend()
    mx.reset_peak_memory()
    first = backend.observe()
    mx.eval(mx.zeros((3_000, 3_000)) + 1)
    (reading,) = first.finish().readings
    assert reading.value >= 36_000_000
    second = backend.observe()
    seen = mx.get_peak_memory()
    second.finish()
    assert seen == reading.value
    mx.reset_peak_memory()
    assert mx.get_peak_memory() < 36_000_000


@pytest.mark.needs("tensorflow")
def test_tensorflows_peak_is_the_users_own_however_they_name_the_device(monkeypatch):
    from jupyter_mlgpu.measure.frameworks.tensorflow import memory

    class Context(Allocator):
        def get_memory_info(self, dev):
            return {"current": self.used, "peak": self.peak}

        def reset_memory_stats(self, dev):
            self.reset_peak()

    context = Context()
    monkeypatch.setattr(memory, "eager_context", lambda: context)
    monkeypatch.setattr(memory, "_info", lambda name: context.get_memory_info(name))
    peaks = memory.peaks_of("gpu:0")

    def allocate():
        context.use(72)
        context.use(0)

    assert cell(peaks, allocate)[0] == 72
    for name in ("GPU:0", "gpu:0", "/GPU:0", "/job:localhost/replica:0/task:0/device:GPU:0"):
        assert cell(peaks, lambda name=name: context.get_memory_info(name)["peak"]) == (0, 72)
    context.reset_memory_stats("GPU:0")
    assert context.get_memory_info("GPU:0")["peak"] == 0
