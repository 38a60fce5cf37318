"""What CUDA graphs keep counts in the peak of PyTorch's allocator."""

import pytest

from jupyter_mlgpu.measure.frameworks.peaks import Peaks
from jupyter_mlgpu.measure.frameworks.torch.pools import PooledPeak, Pools
from jupyter_mlgpu.testing.cuda import FakeCuda

GRAPH = (1, 0)


@pytest.fixture
def cuda():
    """A GPU on which a model's 500 bytes lie."""
    made = FakeCuda()
    made.give(500)
    return made


def counter_of(cuda, index=0):
    snapshot = cuda.memory_snapshot
    return PooledPeak(cuda.memory_stats_as_nested_dict, cuda.reset_peak_memory_stats, snapshot, index)


@pytest.fixture
def counter(cuda):
    return counter_of(cuda)


@pytest.fixture
def peaks(counter):
    return Peaks(counter.read, counter.reset)


def cell(peaks, work=lambda: None):
    mark = peaks.start()
    work()
    return peaks.finish(mark)


def test_without_graphs_it_is_the_allocators_own_peak(cuda, peaks):
    def step():
        cuda.give(5_200)
        cuda.back(5_200)

    assert [cell(peaks, step), cell(peaks)] == [5_700, 500]


def test_a_replay_works_in_what_its_graph_keeps(cuda, peaks):
    cuda.record_graph(5_200, GRAPH)
    assert cell(peaks) == 5_700


def test_what_else_a_cell_takes_comes_on_top(cuda, peaks):
    cuda.record_graph(5_200, GRAPH)

    def evaluate():
        cuda.give(1_000)
        cuda.back(1_000)

    assert cell(peaks, evaluate) == 6_700


def test_what_a_graph_gives_out_and_keeps_is_counted_once(cuda, peaks):
    cuda.record_graph(5_200, GRAPH)
    cuda.give(200, GRAPH)  # its result, which lies in its pool
    assert cell(peaks) == 5_700


def test_recording_is_not_counted_twice(cuda, peaks):
    assert cell(peaks, lambda: cuda.record_graph(5_200, GRAPH)) == 5_700


def test_after_a_recording_the_cell_has_at_least_what_is_kept_and_what_is_given_out_at_its_end(cuda, peaks):
    def record_and_load():
        cuda.record_graph(5_200, GRAPH)
        cuda.give(1_000)

    assert cell(peaks, record_and_load) == 6_700


def test_a_cell_around_others_has_the_highest_of_them(cuda, peaks):
    cuda.record_graph(5_200, GRAPH)
    outer = peaks.start()
    cuda.give(1_000)
    cuda.back(1_000)
    inner = cell(peaks)
    assert (inner, peaks.finish(outer)) == (5_700, 6_700)


def test_all_blocks_are_listed_only_where_pools_can_have_changed(cuda, peaks):
    for _ in range(10):
        cell(peaks, lambda: [cuda.give(100), cuda.back(100)])
    before = cuda.samples
    for _ in range(10):
        cell(peaks, lambda: [cuda.give(100), cuda.back(100)])
    assert cuda.samples == before  # no memory was taken from the GPU
    cell(peaks, lambda: cuda.record_graph(5_200, GRAPH))
    assert cuda.samples == before + 1
    assert [cell(peaks), cell(peaks)] == [5_700, 5_700]  # nothing was given out
    assert cuda.samples <= before + 2


def test_blocks_of_another_gpu_do_not_count(cuda):
    cuda.record_graph(5_200, GRAPH)
    other = counter_of(cuda, 1)
    other.read()
    assert other.pools == Pools()


def test_a_pytorch_that_can_leave_the_history_out_is_asked_to(cuda):
    asked = []
    plain = cuda.memory_snapshot

    def memory_snapshot(include_traces=True):
        asked.append(include_traces)
        return plain()

    cuda.memory_snapshot = memory_snapshot
    counter_of(cuda).read()
    assert asked == [False]
