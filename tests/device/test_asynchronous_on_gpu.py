"""Cells that end before their work does, on a real CUDA GPU: each has what it launched, and nobody waits."""

from __future__ import annotations

import ctypes
import threading
import time
from types import SimpleNamespace

import pytest

from jupyter_mlgpu.measure.gpu.gpu_activity import CUT_SHORT

#: Seconds after which a cell whose work has ended is complete, and more.
LONG = 30.0


class Cells:
    """Cells that follow each other at once; `records` are complete."""

    def __init__(self, runtime):
        self._runtime = runtime
        self._made = []

    def run(self, work):
        measured = self._runtime.recorder.start("cell", waits=False)
        work()
        made = SimpleNamespace(record=measured.stop(), measured=measured)
        self._made.append(made)
        return made.record

    def records(self):
        done = threading.Semaphore(0)
        for made in self._made:

            def tell(figures, made=made):
                made.record = made.record.with_gpu(figures)
                done.release()

            made.measured.when_gpu_done(tell)
        for _ in self._made:
            assert done.acquire(timeout=LONG)
        return [made.record for made in self._made]


def multiply(one, times):
    """Products whose results are not kept: 200 of them would take 25 GiB."""
    for _ in range(times):
        one @ one


def launches(record):
    """Kernels, and copies, of the first GPU."""
    if not record.gpu_work:
        return 0, 0
    (work,) = record.gpu_work
    copies = sum(one.count for one in work.copies)
    return work.launches - copies, copies


@pytest.mark.parametrize("turn", range(3))
def test_work_belongs_to_the_cell_that_launched_it(torch, runtime, turn):
    big = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    x, other = torch.randn(64, 64, device="cuda"), torch.cuda.Stream()
    pinned, small = torch.rand(1_000_000).pin_memory(), torch.nn.Linear(64, 64).to("cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad():
        small(x)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            for _ in range(50):
                torch.relu(x)
    big @ big
    torch.cuda.synchronize()
    cells = Cells(runtime)

    def on_another_stream():
        with torch.cuda.stream(other):
            for _ in range(500):
                x + 1

    def copies_and_graphs():
        with torch.cuda.stream(other):
            for _ in range(20):
                pinned.to("cuda", non_blocking=True)
            for _ in range(10):
                graph.replay()

    first = cells.run(lambda: multiply(big, 200))
    assert first.unfinished
    assert first.reading("wall_time").value < 0.1
    cells.run(on_another_stream)
    cells.run(copies_and_graphs)
    cells.run(lambda: sum(range(100)))
    products, additions, mixed, nothing = cells.records()
    assert [launches(one) for one in (additions, mixed, nothing)] == [(500, 0), (500, 20), (0, 0)]
    kernels, copies = launches(products)
    assert (kernels % 200, copies) == (0, 0)
    assert products.gpu_work[0].went_on > 0.1
    assert not nothing.asynchronous


def test_a_thread_that_goes_on_beyond_its_cell_is_divided(torch, runtime):
    x = torch.randn(64, 64, device="cuda")
    begun, go_on = threading.Event(), threading.Event()

    def other():
        for _ in range(100):
            x * 2
        begun.set()
        go_on.wait()
        for _ in range(300):
            x * 2

    thread = threading.Thread(target=other)
    cells = Cells(runtime)
    cells.run(lambda: (thread.start(), begun.wait()))
    cells.run(lambda: (go_on.set(), thread.join()))
    assert [launches(one) for one in cells.records()] == [(100, 0), (300, 0)]


def test_work_in_another_context_of_the_same_gpu_is_counted(torch, runtime):
    driver = ctypes.CDLL("libcuda.so.1")
    context, stream, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    size = ctypes.c_size_t(1024**2)
    assert driver.cuCtxCreate_v2(ctypes.byref(context), 0, 0) == 0
    driver.cuMemAlloc_v2(ctypes.byref(memory), size)
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    def sets(count):
        driver.cuCtxPushCurrent_v2(context)
        for _ in range(count):
            driver.cuMemsetD8Async(memory, ctypes.c_ubyte(1), size, stream)
        driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))

    x = torch.randn(64, 64, device="cuda")
    cells = Cells(runtime)
    cells.run(lambda: (sets(7), x + 1))
    cells.run(lambda: (x + 1, sets(3), x + 1))
    found = [launches(one)[0] for one in cells.records()]
    driver.cuCtxPushCurrent_v2(context)
    driver.cuCtxSynchronize()
    driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
    driver.cuCtxDestroy_v2(context)
    assert found == [8, 5]


def test_a_capture_in_another_thread_stays_valid_while_cells_begin_and_end(torch, runtime):
    x = torch.randn(64, 64, device="cuda")
    capturing, enough, said = threading.Event(), threading.Event(), []

    def capture():
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, capture_error_mode="global"):
                torch.relu(x)
                capturing.set()
                enough.wait()
                torch.relu(x)
            graph.replay()
            torch.cuda.synchronize()
            said.append("valid")
        except RuntimeError as error:
            said.append(str(error))
        finally:
            capturing.set()

    cells = Cells(runtime)
    cells.run(lambda: torch.relu(x))
    cells.records()
    thread = threading.Thread(target=capture)
    thread.start()
    capturing.wait()
    for _ in range(20):
        cells.run(lambda: None)
        time.sleep(0.01)  # the thread that asks for records has its turn
    enough.set()
    thread.join()
    assert said == ["valid"]


def test_a_gpu_that_is_used_first_in_a_cell_is_counted_there(torch, runtime):
    if torch.cuda.device_count() < 2:
        pytest.skip("there is one GPU here")
    cells = Cells(runtime)

    def work():
        x = torch.ones(64, 64, device="cuda:1")
        for _ in range(10):
            x + 1

    cells.run(work)
    cells.run(lambda: torch.ones(8, device="cuda:0") + 1)
    first, second = cells.records()
    assert [one.device for one in first.gpu_work] == ["gpu:1"]
    assert first.gpu_work[0].launches >= 11
    assert [one.device for one in second.gpu_work] == ["gpu:0"]


def test_jax_is_divided_as_well(jax, runtime):
    import jax.numpy as jnp

    big, x = jnp.ones((8192, 8192), jnp.bfloat16), jnp.ones((64, 64))
    product, add = jax.jit(lambda one: one @ one), jax.jit(lambda one: one + 1)
    jax.block_until_ready((product(big), add(x)))
    cells = Cells(runtime)
    cells.run(lambda: [product(big) for _ in range(100)])
    cells.run(lambda: [add(x) for _ in range(50)])
    first, second = cells.records()
    (one,), (other,) = first.gpu_work, second.gpu_work
    assert max(kernel.count for kernel in one.kernels) == 100
    assert max(kernel.count for kernel in other.kernels) == 50


def test_a_profiler_of_the_users_in_the_next_cell_sees_all_of_its_own_work(torch, runtime):
    from torch.profiler import ProfilerActivity, profile

    big, x = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16), torch.randn(64, 64, device="cuda")
    seen = []

    def profiled():
        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(1_000):
                x + 1
            torch.cuda.synchronize()
        events = [one for one in profiler.events() if str(one.device_type).endswith("CUDA")]
        seen.append(sum("elementwise" in one.name for one in events))

    cells = Cells(runtime)
    cells.run(lambda: multiply(big, 100))
    cells.run(profiled)
    cells.run(lambda: [x + 1 for _ in range(10)])
    before, _, after = cells.records()
    assert seen == [1_000]
    assert before.reading("device_time").why_missing == CUT_SHORT or launches(before)[0] % 100 == 0
    assert launches(after) == (10, 0)


def test_marks_are_told_from_sets_of_the_users(torch, runtime):
    driver = ctypes.CDLL("libcuda.so.1")
    memory = torch.zeros(4, dtype=torch.uint8, device="cuda")
    cells = Cells(runtime)

    def sets():
        for value in range(200):
            address = ctypes.c_uint64(memory.data_ptr())
            driver.cuMemsetD32Async(address, ctypes.c_uint32(value), ctypes.c_size_t(1), None)

    cells.run(sets)
    (record,) = cells.records()
    assert record.gpu_work[0].launches == 200
