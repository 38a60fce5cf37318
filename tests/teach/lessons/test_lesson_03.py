"""Lesson 03: what its text says of dispatch, the race and the arithmetic holds in the saved notebook."""

import ast
import re
from pathlib import Path

import pytest

from jupyter_mlgpu.planning import kernels
from jupyter_mlgpu.teach.lessons.exercises.lesson_03 import (
    PretendDevice,
    crossover,
    fair_time,
    flops_per_byte,
)
from jupyter_mlgpu.teach.lessons.recordings import FOLDER, read

MEASURED = Path(__file__).resolve().parents[3] / "docs" / "measurements"
RECORDED = MEASURED / "2026-11-21-h200-lessons" / "README.md"


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("03")


def recorded_race_chart():
    """The table of the race on the recorded machine."""
    recorded = RECORDED.read_text(encoding="utf-8")
    return re.search(r"`race-chart`:\n\n```text\n(.*?)```", recorded, re.DOTALL)[1]


def column(text, number):
    """The numbers of a table's column, below its head; the first column has no blanks in its rows."""
    rows = [re.split(r"  +", line.strip()) for line in text.splitlines()]
    return [float(row[number].replace(",", "")) for row in rows if re.match(r"^[\d,.e]+$", row[0])]


def test_two_hundred_operations_take_far_longer_than_their_arithmetic(lesson):
    (microseconds,) = map(int, re.findall(r"It was (\d+)\.", lesson.shown("small")))
    assert microseconds > 10 * 0.2


def test_the_two_devices_on_paper_cross_where_the_text_says(lesson):
    code = lesson.prose("on-paper")
    (slow, slow_each), (fast, fast_each) = (
        map(float, re.search(rf'"{name}": \((\S+), (\S+)\)', code).groups())
        for name in ("little dispatch, slow", "much dispatch, fast")
    )
    crossing = (fast - slow) / (slow_each - fast_each)
    assert f"n ≈ {round(crossing, -2):,.0f}" in lesson.prose("on-paper-says")


def test_the_race_is_flat_beside_the_work_and_climbs_in_the_end(lesson):
    sizes = column(lesson.shown("race-chart"), 0)
    times = column(lesson.shown("race-chart"), 1)
    assert sizes == [10**one for one in range(2, 8)]
    # Ten times the numbers take nothing like ten times the time at first, and far longer in the end.
    assert times[1] < 8 * times[0]
    assert times[-1] > 3 * times[-2]


def test_the_figures_of_the_recorded_machine_are_those_of_its_own_run(lesson):
    chart = recorded_race_chart()
    times = {
        size: [round(float(time)) for time in re.search(rf"\n{size} +([\d.]+) +([\d.]+)", chart).groups()]
        for size in ("100", "10,000")
    }
    recorded = RECORDED.read_text(encoding="utf-8")
    (crossing,) = re.findall(r"faster than cpu:0 at about n = ([\d,]+)", recorded)
    told = lesson.prose("race-read")
    assert "the processor took {} µs for n = 100 and the GPU {} µs".format(*times["100"]) in told
    assert "for n = 10,000 it was {} µs and {} µs".format(*times["10,000"]) in told
    assert f"They cross there at about n = {crossing}." in told


def test_the_replayed_race_has_both_devices_of_the_recorded_machine():
    lines = read(FOLDER / "03_race.json").data["lines"]
    assert list(lines) == ["cpu:0", "gpu:0"]
    for number, line in enumerate(lines.values(), start=1):
        sizes, times = zip(*line, strict=True)
        assert sizes == tuple(10.0**one for one in range(2, 8))
        assert times == pytest.approx(column(recorded_race_chart(), number), rel=1e-3)


def test_the_recorded_processor_moved_a_gigabyte_a_second(lesson):
    (size, microseconds) = read(FOLDER / "03_race.json").data["lines"]["cpu:0"][-1]
    moved = 2 * 4 * size
    told = lesson.prose("intensity-read")
    assert f"for the {moved / 1e6:.0f} MB of n = 10⁷" in told
    assert f"That is {moved / microseconds / 1e3:.0f} GB a second" in told


def test_a_row_times_a_column_is_worth_a_quarter_of_an_operation_a_byte(lesson):
    assert {round(flops_per_byte(1, size, 1), 2) for size in (100, 10_000, 1_000_000)} == {0.25}
    assert [flops_per_byte(size, size, size) for size in (600, 6000)] == pytest.approx([100, 1000])
    assert lesson.shown("intensity").count("0.25 operations a byte") == 3


def test_the_square_product_does_more_arithmetic_a_second_and_moves_less(lesson):
    row, square = lesson.shown("two-works").splitlines()[1:3]
    row_flops, row_bytes = map(float, row.split()[-2:])
    square_flops, square_bytes = map(float, square.split()[-2:])
    assert square_flops > 4 * row_flops
    assert square_bytes < row_bytes


def test_the_table_behind_the_plan_has_the_types_that_the_text_names_and_no_others(lesson):
    table = kernels.load("metal")
    types = set().union(*(one.types["T"] for one in table.of("MatMul", "GPU")))
    assert types == {"float32", "float16", "bfloat16"}
    assert "kernels for `MatMul` in float32, float16 and bfloat16, and none in float64" in lesson.prose(
        "plan-read"
    )


def test_the_plan_of_a_layer_in_float64_leaves_its_product_on_the_cpu(lesson):
    shown = lesson.shown("plan")
    assert "6 of 9 operations would run on the GPU" in shown
    assert "3 stay on the CPU (MatMul, AddV2, Identity)" in shown
    assert "the other six compute nothing" in lesson.prose("plan-read")
    copied, tensors = re.search(
        r"^([\d,]+) bytes in (\d+) tensors would be copied", shown, re.MULTILINE
    ).groups()
    assert (copied, int(tensors)) == (f"{8 * (100 + 100 + 1):,}", 3)


def test_a_thousand_calls_cost_more_than_one_with_a_batch(lesson):
    apart, together = (float(line.split()[-1]) for line in lesson.shown("break-batch").splitlines()[1:3])
    assert apart > 10 * together


def test_the_replayed_missing_fence_is_the_one_that_was_measured(lesson):
    printed = (MEASURED / "2026-11-21-h200-contract" / "output.txt").read_text(encoding="utf-8")
    count, wall, handed_over = re.search(
        r"(\d+) products: events \S+ s, wall (\S+) s, dispatched in (\S+) s", printed
    ).groups()
    rows = read(FOLDER / "03_fence.json").data["rows"]
    assert [row["the clock is read"] for row in rows] == [
        f"{count} products, all handed over",
        f"{count} products, all done",
    ]
    assert [row["ms"] for row in rows] == pytest.approx([float(handed_over) * 1e3, float(wall) * 1e3])
    # 4,096 by 4,096, as tests/device/test_on_gpu.py makes them: far above what the device can do.
    rates = [int(count) * 2 * 4096**3 / row["ms"] * 1e3 / 1e12 for row in rows]
    assert [f"{rate:,.0f}" for rate in (round(rates[0], -2), rates[1])] == ["7,500", "51"]
    assert "7,500 TFLOP/s in float32, where lesson 4 measures 51" in lesson.prose("remember")


def test_the_race_is_that_of_the_post_up_to_ten_million_and_its_largest_arrays_are_as_large_as_told(lesson):
    assert "n = 10² to 10⁸; ten runs each after a warm-up" in lesson.prose("on-paper-says")
    assert "--over n=1e2,1e3,1e4,1e5,1e6,1e7 " in lesson.cells["race"].source
    assert "10 runs each after warm-up" in lesson.shown("race")
    assert f"take {2 * 4 * 10**8 / 1e9:.1f} GB" in lesson.prose("on-paper-says")
    # The post timed the making of its arrays, too; the race makes them beforehand.
    assert "the timed function also made its arrays" in lesson.prose("on-paper-says").lower()
    assert "ops.ones" in lesson.cells["setup"].source
    assert "ones" not in lesson.cells["race"].source


def test_the_pretend_device_works_while_python_goes_on():
    device = PretendDevice(prepare=3.0, dispatch=0.005, compute=0.2)
    result = device.work()
    assert device.clock() == pytest.approx(1003.005)
    device.wait(result)
    assert device.clock() == pytest.approx(1003.205)
    assert fair_time(device.work, device.wait, device.clock) == pytest.approx(0.205)


def test_it_computes_with_keras_alone_so_that_every_backend_serves(lesson):
    code = "\n".join(cell.source for cell in lesson.cells.values() if cell.cell_type == "code")
    # The plan of a Keras model is one of TensorFlow's graph, so that cell asks which framework there is.
    code = code.replace('if framework == "tensorflow":\n', "")
    assert not re.search(r"\b(tf\.|tensorflow|torch|jax)\b", code)


def test_the_hard_exercise_is_asked_about_the_recorded_race_and_comes_within_twice_of_it(lesson):
    rows = re.findall(r"^(100|1e7) +([\d,.]+) +([\d.]+)$", recorded_race_chart(), re.MULTILINE)
    measured = [[float(one.replace(",", "")) for one in row] for row in rows]
    asked = re.search(r"processor, gpu = (.*)", lesson.cells["crossover-here"].source)[1]
    processor, gpu = ast.literal_eval(asked)
    assert [list(one) for one in processor] == [[size, time] for size, time, _ in measured]
    assert [list(one) for one in gpu] == [[size, time] for size, _, time in measured]
    assert 0.5 < crossover(processor, gpu) / 3300 < 2
    assert lesson.shown("crossover-here") == ""


def test_the_answer_says_where_the_recorded_lines_cross_through_other_readings(lesson):
    processor, gpu = (read(FOLDER / "03_race.json").data["lines"][name] for name in ("cpu:0", "gpu:0"))
    ends, flat = [processor[0], processor[-1]], [time for _, time in gpu[1:4]]
    through_ends = crossover(ends, [gpu[0], gpu[-1]])
    with_67 = crossover(ends, [(100, 67), gpu[-1]])
    between = crossover(processor[1:3], gpu[1:3])
    told = lesson.prose("further")
    crossings = [f"{round(one, -2):,.0f}" for one in (through_ends, with_67, between)]
    assert re.findall(r"about (\d,\d{3})\b", told) == crossings
    assert f"{gpu[0][1]:.0f} µs, where its others up to 10⁵ are about 67" in told
    assert flat == pytest.approx([67] * 3, rel=0.03)


def test_devices_that_are_known_cross_where_their_times_are_the_same():
    one, other = [(100, 11), (1000, 20)], [(100, 50.2), (1000, 52)]
    assert crossover(one, other) == pytest.approx(5000)
    assert crossover(other, one) == pytest.approx(5000)
