"""Lesson 18: what its text says of the saved run and of the recorded kernels is so."""

import re

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
def shares():
    """The recorded percentages of the roof, by program, numbers and tile."""
    rows = recordings.read(recordings.FOLDER / "18_tiles.json").data["rows"]
    return {(row["program"], row["numbers"], row["tile"]): row["% of the roof"] for row in rows}


@pytest.fixture(scope="module")
def strided():
    """How many times as long a stride of 8 and one of 32 took than neighbours, by what had the stride."""
    lines = recordings.read(recordings.FOLDER / "18_strides.json").data["lines"]
    rates = {name: dict(map(tuple, line)) for name, line in lines.items()}
    return {(name, stride): line[1] / line[stride] for name, line in rates.items() for stride in (8, 32)}


def test_on_the_processor_a_product_is_faster_than_if_each_number_was_fetched_anew(lesson):
    rates = re.findall(r"^(addition|product) +(\S+)", lesson.shown("own"), re.MULTILINE)
    (_, addition), (_, product) = rates
    assert float(product) > 2 * 3 * float(addition)


def test_a_coalesced_access_wastes_nothing_and_a_stride_of_eight_seven_eighths(lesson):
    moved = dict(re.findall(r"^(\d+) .* (\d+)$", lesson.shown("stride"), re.MULTILINE))
    assert moved == {"1": "1", "2": "2", "4": "4", "8": "8", "16": "8", "32": "8"}
    assert "4 sectors are moved, with 32 numbers" in lesson.shown("add-picture")
    assert "16 sectors are moved, with 128 numbers" in lesson.shown("stride-picture")


def test_an_eighth_of_the_additions_takes_the_processor_about_as_long_as_all(lesson):
    share = int(re.search(r"It was (\d+)\.", lesson.shown("strides"))[1])
    assert 70 < share < 140


def test_from_a_stride_of_16_on_the_processor_takes_longer_than_its_rule_expects(lesson):
    found = re.findall(r"^ *(\d+) +(\S+)", lesson.shown("strides"), re.MULTILINE)
    used = {int(stride): float(rate) for stride, rate in found}
    assert used[1] / used[16] > 16
    assert used[1] / used[32] > 16


def test_a_partly_written_sector_costs_the_gpu_twice(strided):
    assert strided["addition", 8] == pytest.approx(8 * 4 / 3, rel=0.1)
    assert strided["reading", 8] == pytest.approx((8 + 1) / 2, rel=0.2)
    assert strided["writing", 8] == pytest.approx((2 * 8 + 1) / 2, rel=0.1)
    every, seven = recordings.read(recordings.FOLDER / "18_writes.json").data["rows"]
    assert seven["ms"] > 1.4 * every["ms"]


def test_the_sectors_of_the_plain_kernels_are_those_of_the_text(lesson):
    found = re.findall(
        r"(\S+) operations a byte;\n.*: (\S+) TFLOP", lesson.shown("untiled").replace(", \n", ", ")
    )
    along, down = [tuple(map(float, one)) for one in found]
    assert along == pytest.approx((64 / (5 * 32), 1.9), abs=0.05)
    assert down == pytest.approx((64 / (33 * 32), 0.3), abs=0.05)
    assert lesson.shown("untiled").count("right True") == 2


def test_tiles_of_eight_ask_for_an_eighth_and_move_all_that_they_use(lesson):
    shown = lesson.shown("shared")
    assert "right: True, block 1 as in NumPy: True" in shown
    counts = [int(one.replace(",", "")) for one in re.findall(r"^[a-z].* ([\d,]+)$", shown, re.MULTILINE)]
    reads, _, moved, used, of_shared = counts
    assert reads == 2 * 32**3 // 8
    assert moved == used
    assert of_shared == 2 * 32**3


def test_four_sums_a_thread_halve_the_reads_of_shared_memory(lesson):
    shown = lesson.shown("registers")
    assert "right: True" in shown
    before, after, formula = (int(one.replace(",", "")) for one in re.findall(r"\d[\d,]{3,}", shown))
    assert after == formula == before // 2


def test_each_step_of_the_ladder_is_faster_in_float32(rates, shares):
    ladder = [
        rates["CUDA C", "float32", tile]
        for tile in (
            "none, neighbours down a column",
            "none, neighbours along a row",
            "32 x 32",
            "32 x 32, 2 x 2 a thread",
            "32 x 32, 4 x 4 a thread",
            "128 x 128, 8 x 8 a thread",
        )
    ]
    assert ladder == sorted(ladder)
    assert ladder[0] > 0.3  # more than the memory alone allows, by sectors
    assert ladder[1] > 1.9
    assert ladder[2] < 2 * ladder[1]
    assert shares["Triton: addition", "float32", "none"] < 2
    assert shares["PyTorch (cuBLAS)", "float32", "its own"] > shares["Triton", "float32", "64 x 64"] > 60


def test_float32_gains_nothing_from_64_to_128_and_is_no_faster_from_the_cache(rates):
    small, middle, large, larger = (
        rates["Triton", "float32", f"{tile} x {tile}"] for tile in (16, 32, 64, 128)
    )
    assert small < middle < large
    assert larger == pytest.approx(large, rel=0.05)
    for row in recordings.read(recordings.FOLDER / "18_cached.json").data["rows"]:
        assert row["TFLOP/s, n = 1,536"] < row["TFLOP/s, n = 4,096"]


def test_bfloat16_grows_with_the_tile_and_gets_about_half_of_its_bytes_from_caches(rates, shares):
    tiles = ("16 x 16", "32 x 32", "64 x 64", "128 x 128", "128 x 256")
    grows = [rates["Triton", "bfloat16", tile] for tile in tiles]
    assert grows == sorted(grows)
    allowed = 128 / 2 * 4.8
    assert allowed == pytest.approx(307, abs=0.5)
    assert 1.7 < rates["Triton", "bfloat16", "128 x 128"] / allowed < 2.3
    assert shares["PyTorch (cuBLAS)", "bfloat16", "its own"] > 60


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
