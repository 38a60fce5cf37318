"""The memory that CUDA graphs work in, on a real GPU: it counts in receipts and in the benchmark. A minute:

python3 -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_graph_memory_on_gpu.py -s
"""

from __future__ import annotations

import gc
import time

import pytest

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.measure.frameworks.models import MODELS
from jupyter_mlgpu.measure.frameworks.torch.pools import PooledPeak
from jupyter_mlgpu.measure.frameworks.torch.training import TorchTraining

MIB = 1024**2
FAST = ("channels_last", "bf16", "fused")


@pytest.fixture(autouse=True)
def nothing_left(torch):
    yield
    gc.collect()
    torch.cuda.empty_cache()


def peak_over(cell):
    """What a receipt says of the allocator's peak on the first GPU, and the notes."""
    observation = registry.backend("torch").observe()
    cell()
    seen = observation.finish()
    (reading,) = [one for one in seen.readings if one.quantity == "peak_memory_allocator"][:1]
    assert reading.value is not None, reading.why_missing
    return reading, seen.notes


def a_step(torch, x):
    """Works in 512 MiB at once, of which nothing stays but one number."""

    def step():
        return (x + 1).mul_(2).sum()

    return step


def recorded(torch, step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = step()
    return graph, result


def test_a_replay_has_the_peak_of_the_step_that_was_recorded(torch):
    x = torch.ones(128 * MIB, device="cuda")  # 512 MiB
    step = a_step(torch, x)
    before = torch.cuda.memory_allocated()
    eager, _ = peak_over(step)
    made = []
    recording, notes = peak_over(lambda: made.append(recorded(torch, step)))
    torch.cuda.reset_peak_memory_stats()  # of what PyTorch's own function tells below
    replayed, said = peak_over(made[0][0].replay)
    plain = torch.cuda.max_memory_allocated()
    sizes = [round(one / MIB) for one in (before, eager.value, recording.value, replayed.value, plain)]
    print(f"\nMiB before, eager, recording, replay, and PyTorch's own figure of the replay: {sizes}")
    assert eager.value - before >= 512 * MIB
    assert replayed.value == pytest.approx(eager.value, rel=0.1)
    assert plain < replayed.value - 400 * MIB
    assert recording.value >= eager.value * 0.95
    assert (len(notes), said) == (1, ())
    assert replayed.detail.endswith("plus what CUDA graphs keep")


def test_a_graph_that_has_gone_is_let_go_with_the_cache(torch):
    x = torch.ones(128 * MIB, device="cuda")
    graph, result = recorded(torch, a_step(torch, x))
    kept, _ = peak_over(graph.replay)
    del graph, result
    gc.collect()
    torch.cuda.empty_cache()
    after, _ = peak_over(lambda: None)
    print(f"\nwith the graph {kept.value / MIB:.0f} MiB, without it {after.value / MIB:.0f} MiB")
    assert after.value < kept.value - 400 * MIB


def test_resnet50_needs_as_much_replayed_as_eager(torch):
    peaks = {}
    for options in (FAST, (*FAST, "cuda_graphs")):
        ours = TorchTraining(MODELS["resnet50"], 128, options, "cuda")
        ours.run(3)
        ours.wait()

        def step(ours=ours):
            ours.run(1)
            ours.wait()

        peaks[options], _ = peak_over(step)
        print(f"\n{'+'.join(options)}: {peaks[options].value / MIB:,.0f} MiB ({peaks[options].detail})")
        ours.close()
        del ours, step
        gc.collect()
        torch.cuda.empty_cache()
    eager, replayed = (one.value for one in peaks.values())
    assert 0.8 * eager <= replayed <= 1.5 * eager


def test_what_a_compiled_case_kept_is_not_counted_in_the_next(torch):
    kept = []
    for options in (FAST, (*FAST, "reduce_overhead"), FAST):
        ours = TorchTraining(MODELS["resnet50"], 32, options, "cuda")
        ours.run(4)
        ours.wait()
        held, _ = peak_over(lambda: None)
        ours.close()
        del ours
        gc.collect()
        torch.cuda.empty_cache()
        after, _ = peak_over(lambda: None)
        kept.append((held.value, after.value))
        print(
            f"\n{'+'.join(options)}: {held.value / MIB:,.0f} MiB held, {after.value / MIB:,.0f} MiB after it"
        )
    first, compiled, second = kept
    assert compiled[1] <= first[1] + 64 * MIB
    assert second[0] <= first[0] + 64 * MIB


def test_between_two_cells_nothing_is_asked_twice_and_asking_is_told_in_time(torch):
    ours = TorchTraining(MODELS["resnet50"], 32, (*FAST, "cuda_graphs"), "cuda")
    ours.run(1)
    ours.wait()
    cuda = torch.cuda
    counter = PooledPeak(
        cuda.memory_stats_as_nested_dict, cuda.reset_peak_memory_stats, cuda.memory_snapshot, 0
    )
    begun = time.perf_counter()
    counter.read()
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    counter.read()
    again = time.perf_counter() - begun
    print(f"\nasked for the pools in {first * 1e3:.2f} ms, again in {again * 1e6:.0f} µs; {counter.pools}")
    assert counter.why_not is None
    assert counter.pools.total > counter.pools.free > 0 or counter.pools.total == counter.pools.free > 0
    ours.close()
