"""`simulate`: what a kernel's warps move, who uses which number, addresses outside an array, and races."""

import re

import pytest

from jupyter_mlgpu.teach.lessons.kernels import simulate

np = pytest.importorskip("numpy", reason="NumPy is not installed here")

N, TILE = 16, 4


def numbers(length):
    return np.arange(length, dtype="float32")


def copy_with_stride(stride):
    def copy(thread, memory):
        place = stride * (thread.block * thread.threads + thread.number)
        memory.z[place] = memory.x[place]

    return copy


def product(thread, memory):
    row, column = divmod(thread.block * thread.threads + thread.number, N)
    total = 0
    for inner in range(N):
        total += memory.a[row * N + inner] * memory.b[inner * N + column]
    memory.c[row * N + column] = total


def tiled_product(first_barrier=True, second_barrier=True):
    def kernel(thread, memory):
        y, x = divmod(thread.number, TILE)
        down, right = divmod(thread.block, N // TILE)
        row, column, total = down * TILE + y, right * TILE + x, 0
        for first in range(0, N, TILE):
            memory.left[thread.number] = memory.a[row * N + first + x]
            memory.right[thread.number] = memory.b[(first + y) * N + column]
            if first_barrier:
                yield
            for inner in range(TILE):
                total += memory.left[y * TILE + inner] * memory.right[inner * TILE + x]
            if second_barrier:
                yield
        memory.c[row * N + column] = total

    return kernel


def run_tiled(kernel, **options):
    a, b = numbers(N * N).reshape(N, N), np.eye(N, dtype="float32")[::-1]
    shared = {"left": TILE**2, "right": TILE**2}
    run = simulate(
        kernel, blocks=(N // TILE) ** 2, threads=TILE**2, shared=shared, a=a, b=b, c=0 * a, **options
    )
    return run, np.array_equal(run.arrays["c"].reshape(N, N), a @ b)


@pytest.mark.parametrize(("stride", "times"), [(1, 1), (2, 2), (8, 8), (32, 8)])
def test_a_stride_moves_as_many_times_the_bytes_up_to_a_sector_for_each_number(stride, times):
    x = numbers(64 * stride)
    run = simulate(copy_with_stride(stride), blocks=2, threads=32, x=x, z=np.zeros_like(x))
    assert (run.reads, run.writes) == (64, 64)
    assert run.bytes_used == 2 * 64 * 4
    assert run.bytes_moved == times * run.bytes_used
    assert np.array_equal(run.arrays["z"][::stride], x[::stride])
    assert run.warnings == []


def test_numbers_of_eight_bytes_need_twice_the_sectors():
    x = np.zeros(32)
    run = simulate(copy_with_stride(1), blocks=1, threads=32, x=x, z=x)
    assert run.sectors == 16


def test_two_warps_of_a_block_are_counted_by_themselves():
    x = numbers(4)
    run = simulate(lambda thread, memory: memory.x[0], blocks=1, threads=64, x=x)
    assert run.sectors == 2
    assert run.bytes_used == 8


def test_a_product_reads_two_numbers_for_each_multiplication_and_tiles_divide_that_by_their_side():
    a = np.eye(N, dtype="float32")
    plain = simulate(product, blocks=N, threads=N, a=a, b=a, c=0 * a)
    tiled, right = run_tiled(tiled_product())
    assert plain.reads == 2 * N**3
    assert tiled.reads == 2 * N**3 / TILE
    assert tiled.shared_reads == 2 * N**3
    assert plain.writes == tiled.writes == N**2
    assert right
    assert tiled.warnings == []


def test_the_arrays_given_stay_as_they_were():
    x = numbers(32)
    simulate(copy_with_stride(1), blocks=1, threads=32, x=x, z=x)
    assert np.array_equal(x, numbers(32))


def test_an_address_outside_an_array_is_reported_and_nothing_is_written():
    run = simulate(copy_with_stride(1), blocks=2, threads=32, x=numbers(40), z=np.zeros(40, "float32"))
    assert len(run.warnings) == 2 * 24
    assert str(run.warnings[0]) == "Thread 8 of block 1 accesses x[40]; the last place is 39."
    assert np.array_equal(run.arrays["z"], numbers(40))
    assert "And 45 more of these." in repr(run)


def test_an_address_before_the_first_is_outside_too():
    run = simulate(lambda thread, memory: memory.x[-1], blocks=1, threads=1, x=numbers(4))
    assert "x[-1]" in str(run.warnings[0])


@pytest.mark.parametrize(("first_barrier", "second_barrier"), [(True, False), (False, True), (False, False)])
def test_without_a_barrier_there_are_races_and_the_order_of_threads_changes_the_result(
    first_barrier, second_barrier
):
    kernel = tiled_product(first_barrier, second_barrier)
    forwards, right = run_tiled(kernel)
    backwards, also_right = run_tiled(kernel, backwards=True)
    assert not right
    assert not also_right
    assert not np.array_equal(forwards.arrays["c"], backwards.arrays["c"])
    assert str(forwards.warnings[0]) == (
        "A race: in block 0, thread 0 writes left[0], and thread 1 uses it with no barrier in between."
    )


def test_a_run_is_said_to_be_simulated_and_its_counts_are_in_the_text():
    run, _ = run_tiled(tiled_product())
    text = repr(run)
    assert text.startswith("Simulated, not measured: 16 blocks of 16 threads.\n")
    assert re.search(r"^numbers that threads read from global memory +2,048$", text, re.MULTILINE)
    assert re.search(r"^numbers read from shared memory +8,192$", text, re.MULTILINE)
    assert "<table" in run._repr_html_()


def test_a_picture_names_the_threads_in_their_sectors():
    x = numbers(256)
    run = simulate(copy_with_stride(2), blocks=1, threads=32, x=x, z=np.zeros_like(x))
    drawn = run.picture("x")
    head, _, first, *_ = repr(drawn).splitlines()
    assert head == "Simulated: 32 threads use 32 numbers of x; 8 sectors are moved, with 64 numbers."
    assert first.split() == ["x[0]", "…", "x[7]", *"0·1·2·3·"]
    assert drawn.svg.count('stroke="#d1d9e0"') == 64
    assert drawn.svg.count('class="number"') == 32


def test_a_number_that_several_threads_use_is_moved_once():
    run = simulate(lambda thread, memory: memory.x[0], blocks=1, threads=32, x=numbers(8))
    assert "0+ · · · · · · ·" in repr(run.picture("x"))
    assert run.sectors == 1


def test_a_long_picture_says_how_many_sectors_its_text_leaves_out():
    x = numbers(256)
    run = simulate(copy_with_stride(8), blocks=1, threads=32, x=x, z=x)
    assert repr(run.picture("x")).endswith("And 24 more sectors.")
