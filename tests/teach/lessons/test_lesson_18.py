"""Lesson 18: what its text says of the saved run and of the recorded kernels is so."""

import re
from itertools import pairwise

import pytest

from jupyter_mlgpu.teach.lessons import recordings


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("18")


@pytest.fixture(scope="module")
def rates():
    """The recorded TFLOP/s, by program, numbers and tile."""
    rows = recordings.read(recordings.FOLDER / "18_tiles.json").data["rows"]
    return {(row["program"], row["numbers"], row["tile"]): row["TFLOP/s"] for row in rows}


@pytest.fixture(scope="module")
def addition():
    (row,) = recordings.read(recordings.FOLDER / "18_addition.json").data["rows"]
    return row


@pytest.fixture(scope="module")
def strided():
    """The recorded GB/s of the addition, by stride."""
    lines = recordings.read(recordings.FOLDER / "18_strides.json").data["lines"]
    return dict(map(tuple, lines["addition"]))


def test_on_the_processor_too_the_addition_reaches_the_smallest_share_of_the_roof(lesson):
    shares = [float(one) for one in re.findall(r" (\S+)$", lesson.shown("own"), re.MULTILINE)[1:]]
    addition, plain, product = shares
    assert addition < plain < product <= 100


def test_a_coalesced_access_wastes_nothing_and_a_stride_of_eight_seven_eighths(lesson):
    moved = dict(re.findall(r"^(\d+) .* (\d+)$", lesson.shown("stride"), re.MULTILINE))
    assert moved == {"1": "1", "2": "2", "4": "4", "8": "8", "16": "8", "32": "8"}
    assert "4 sectors are moved, with 32 numbers" in lesson.shown("add-picture")
    assert "16 sectors are moved, with 128 numbers" in lesson.shown("stride-picture")


def test_an_eighth_of_the_additions_takes_the_processor_about_as_long_as_all(lesson):
    share = int(re.search(r"It was (\d+)\.", lesson.shown("strides"))[1])
    assert 70 < share < 140


def test_a_stride_costs_the_gpu_somewhat_more_than_the_rule_of_sectors_says(strided):
    assert 8 < strided[1] / strided[8] < 12
    assert strided[1] / strided[32] > 20


def test_the_product_reads_twice_its_multiplications_and_an_eighth_with_tiles_of_eight(lesson):
    found = re.findall(r"^(\S.*?) +([\d,]+) numbers read", lesson.shown("shared"), re.MULTILINE)
    reads = {name: int(count.replace(",", "")) for name, count in found}
    assert reads == {"along_a_row": 2 * 32**3, "down_a_column": 2 * 32**3, "tiles of 8": 2 * 32**3 // 8}
    assert "right: True" in lesson.shown("shared")
    assert lesson.shown("untiled").count("right True") == 2


def test_neighbours_along_a_row_are_ten_times_as_fast_as_down_a_column(rates):
    down = rates["CUDA C", "float32", "none, neighbours down a column"]
    along = rates["CUDA C", "float32", "none, neighbours along a row"]
    assert along > 10 * down
    assert along > 1.2  # more than the count of bytes allows: the caches
    assert along < rates["CUDA C", "float32", "32 x 32"] < 2 * along
    assert rates["Triton", "float32", "32 x 32"] > 3 * rates["CUDA C", "float32", "32 x 32"]


def test_float32_stops_growing_past_the_ridge_and_bfloat16_does_not(rates):
    small, middle, large, larger = (
        rates["Triton", "float32", f"{tile} x {tile}"] for tile in (16, 32, 64, 128)
    )
    assert small < middle < large
    assert larger == pytest.approx(large, rel=0.05)
    grows = [rates["Triton", "bfloat16", f"{tile} x {tile}"] for tile in (16, 32, 64, 128)]
    assert all(other > 1.5 * one for one, other in pairwise(grows))
    allowed = 128 / 2 * 4.8
    assert allowed == pytest.approx(307, abs=0.5)
    assert 1.7 < grows[-1] / allowed < 2.3


def test_the_product_reaches_more_than_half_of_the_roof_and_the_addition_less_than_two_percent(
    rates, addition
):
    assert rates["Triton", "bfloat16", "128 x 128"] > 989 / 2
    assert rates["PyTorch (cuBLAS)", "bfloat16", "its own"] > 989 / 2
    assert addition["% of float32's roof"] < 2
    assert addition["% of bfloat16's roof"] < 2
    assert addition["% of the memory's roof"] > 80


def test_the_replayed_cells_are_busy_and_not_equally_quick(lesson):
    shown = lesson.shown("strips")
    busy = re.findall(r"GPU busy (\d+) %", shown)
    assert len(busy) == 4
    assert all(int(one) >= 90 for one in busy)
    times = [float(time) * {"s": 1000, "ms": 1}[unit]
             for time, unit in re.findall(r"replayed: ([\d.]+) (s|ms)", shown)]  # fmt: skip
    assert 4 < times[1] / times[0] < 6
    assert 3 < times[2] / times[3] < 5


def test_the_recorded_kernels_are_as_large_as_the_text_says(lesson):
    shown = lesson.shown("strips")
    assert "range(3000)" in shown
    assert "range(1500)" in shown
    for words in ("three thousand additions", "stride of 4", "1,500 products", "tiles of 32", "tiles of 128"):
        assert words in lesson.prose("strips-says")


def test_mlx_s_build_for_linux_says_that_it_has_no_metal(lesson):
    assert "No Metal back-end" in lesson.shown("metal")


def test_without_the_mask_the_simulator_names_an_address_past_the_end(lesson):
    assert "accesses x[100]; the last place is 99." in lesson.shown("break-mask")


def test_without_the_barrier_the_order_of_threads_changes_the_result(lesson):
    shown = lesson.shown("break-barrier")
    wrong = re.findall(r"backwards (\w+): (\d+) of 1024 numbers are wrong; c begins with (\[.+?\])", shown)
    (_, first, forwards), (_, second, backwards) = wrong
    assert int(first)
    assert int(second)
    assert forwards != backwards
    assert "A race: in block 0" in shown
