"""Products by tiles: right results, counts of shared reads, skipped barriers, and recorded strides."""

from functools import partial

import pytest

from jupyter_mlgpu.teach.lessons.exercises.lesson_18 import fetch
from jupyter_mlgpu.teach.lessons.products import (
    corner,
    recorded_strides,
    simulate_product,
    sums_in_registers,
)

np = pytest.importorskip("numpy", reason="NumPy is not installed here")

N, TILE = 16, 4
A, B = np.random.default_rng(18).integers(0, 9, (2, N, N)).astype("float32")


def tiled(thread, memory, n, tile):
    top, side = corner(thread.block, n, tile)
    down, across = divmod(thread.number, tile)
    total = 0
    for first in range(0, n, tile):
        fetch(thread, memory, first, n, tile)
        yield
        for inner in range(tile):
            total += memory.left[down * tile + inner] * memory.right[inner * tile + across]
        yield
    memory.c[(top + down) * n + side + across] = total


def is_right(run):
    return np.array_equal(run.arrays["c"].reshape(N, N), A @ B)


def test_blocks_take_their_tiles_row_by_row():
    assert [corner(block, 6, 3) for block in range(4)] == [(0, 0), (0, 3), (3, 0), (3, 3)]


@pytest.mark.parametrize("r", [1, 2, 4])
def test_sums_in_registers_are_right_and_read_each_shared_number_r_times_less(r):
    run = simulate_product(partial(sums_in_registers, r=r), A, B, TILE, threads=(TILE // r) ** 2)
    assert is_right(run)
    assert run.reads == 2 * N**3 / TILE
    assert run.shared_reads == 2 * N**3 / r
    assert run.warnings == []


@pytest.mark.parametrize("skipped", [1, 2])
def test_a_skipped_barrier_is_a_race(skipped):
    assert is_right(simulate_product(tiled, A, B, TILE))
    runs = [
        simulate_product(tiled, A, B, TILE, skip_barrier=skipped, backwards=backwards)
        for backwards in (False, True)
    ]
    assert not any(map(is_right, runs))
    assert all(str(run.warnings[0]).startswith("A race") for run in runs)


def test_without_the_first_barrier_a_thread_uses_what_is_not_there_yet():
    run = simulate_product(tiled, A, B, TILE, skip_barrier=1)
    assert np.isnan(run.arrays["c"]).any()


def test_the_table_of_strides_has_the_recorded_machine_and_a_row_for_each_stride():
    head, _, *rows = repr(recorded_strides()).splitlines()
    assert head.startswith("Replayed, not measured here: NVIDIA H200")
    assert [row.split()[0] for row in rows] == ["1", "2", "4", "8", "16", "32"]
    assert rows[0].split()[1:] == ["1", "1.0", "1", "1", "1.0"]
