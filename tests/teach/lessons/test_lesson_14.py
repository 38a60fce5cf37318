"""Lesson 14: what its text says of the saved run is so, and its engines end with it."""

import ast
import re

import pytest

from jupyter_mlgpu.teach.lessons import recordings


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("14")


def rows(shown, columns):
    """The rows of a table in text, below its header."""
    found = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    return [row for row in found if len(row) == columns][1:]


def test_the_weights_and_the_bytes_that_the_text_names_are_those_of_the_network(lesson):
    weights = 784 * 128 + 128 * 10
    for name in ("predict-says", "network-says"):
        assert f"{weights:,}" in lesson.prose(name)
    assert f"{4 * weights / 1000:.0f} kB" in lesson.prose("predict-says")
    assert "784 * 128 + 128 * 10" in lesson.cells["deal"].source


def test_the_shares_of_the_picture_are_those_of_the_run(lesson):
    first, second = ast.literal_eval(lesson.shown("deal"))
    assert first + second == 101
    assert f"gradient of {first} images" in lesson.prose("picture")
    assert f"gradient of {second} images" in lesson.prose("picture")


def test_two_shares_together_are_the_whole_batch_and_the_weights_stay_the_same(lesson):
    assert "approximate: yes" in lesson.shown("same")
    assert "exact: yes" in lesson.shown("parts")


def test_the_notebook_s_own_receipt_of_the_training_knows_hardly_any_computing(lesson):
    receipt = lesson.receipt("train")
    wall, cpu = (receipt.reading(name).value for name in ("wall_time", "cpu_time"))
    assert cpu < wall / 2


def test_both_engines_traces_are_side_by_side_with_their_clocks(lesson):
    found = rows(lesson.shown("collect"), 6)
    assert [(row[0], row[2], row[5]) for row in found] == [("0", "36", "collected"), ("1", "36", "collected")]
    assert {row[4] for row in found} == {"the same clock"}
    (html,) = [one.data["text/html"] for one in lesson.cells["collect"].outputs if one.data.get("text/html")
               and "lane" not in one.data["text/html"] and "engine" in one.data["text/html"]]  # fmt: skip
    assert '<img src="data:image/svg+xml;base64,' in html


def test_communication_waits_while_computing_computes(lesson):
    parts = {(engine, name): (float(wall), float(cpu)) for engine, name, wall, cpu
             in rows(lesson.shown("parts"), 4)}  # fmt: skip
    assert {name for _, name in parts} == {"compute", "communicate", "update"}
    for engine in "01":
        wall, cpu = parts[engine, "communicate"]
        assert cpu < wall
        assert parts[engine, "compute"][1] > cpu


def test_small_batches_lose_larger_ones_gain_more_and_a_slow_cable_takes_what_the_text_says(lesson):
    own = lesson.shown("sweep").partition("\nReplayed, ")[0]
    measured = [[float(one.replace(",", "")) for one in row] for row in rows(own, 5)]
    assert [row[0] for row in measured] == [2**one for one in range(4, 13)]
    assert measured[0][4] < 1
    assert measured[-1][4] > measured[0][4]
    for _, alone, shared, _, gain in measured:
        assert gain == pytest.approx(alone / shared, rel=0.02, abs=0.006)
    charted = [[float(one.replace(",", "")) for one in row] for row in rows(lesson.shown("chart"), 6)]
    assert len(charted) == 9
    cable = 2 * 4 * (784 * 128 + 128 * 10) * 8 / 1e9 * 1000  # ms at 1 Gbit/s
    assert f"take {cable:.1f} ms on it" in lesson.prose("chart-read")
    assert f"needs {2 * cable:.0f} ms for a step" in lesson.prose("chart-read")
    for (_, alone, *_), row in zip(measured, charted, strict=True):
        assert row[3] == pytest.approx(alone / (alone / 2 + cable), rel=0.02)
    assert f"It was {measured[0][4]:.2f}".rstrip("0") in lesson.shown("chart")


def test_the_crossover_that_is_promised_is_reached_in_the_recording_of_a_machine_with_cores_enough(lesson):
    assert "find out from which batch on the second machine makes training faster" in lesson.prose("question")
    kept = recordings.read(recordings.FOLDER / "14_steps.json")
    gains = {row["batch"]: float(row["times as fast"]) for row in kept.data["rows"]}
    assert gains[128] < 1 < gains[256]
    for row in kept.data["rows"]:
        alone, shared = float(row["one engine, ms"]), float(row["two engines, ms"])
        assert float(row["times as fast"]) == pytest.approx(alone / shared, rel=0.01, abs=0.006)
    lines = recordings.read(recordings.FOLDER / "14_speed_up.json").data["lines"]
    assert {batch: pytest.approx(gain, abs=0.006) for batch, gain in lines["two engines, measured"]} == gains


def test_the_sharding_is_jax_s_own_and_says_where_it_was_made(lesson):
    kept = recordings.read(recordings.FOLDER / "14_sharding.json")
    assert kept.framework.startswith("JAX ")
    shown = lesson.shown("sharding")
    assert "Replayed, not measured here" in shown or "Asked of JAX" in shown
    by_array = {}
    for row in kept.data["rows"]:
        by_array.setdefault(row["array"], []).append(row["rows"])
        assert row["all-reduce in the program"] >= 1
    assert len(set(by_array["batch"])) == 2
    assert len(set(by_array["weights"])) == len(set(by_array["gradient"])) == 1


def test_the_killed_engine_leaves_what_it_had_told_and_a_clear_word(lesson):
    assert re.match(r"Engine 0: \w+Error", lesson.shown("break"))
    assert "engines that are left: [0]" in lesson.shown("break")
    shown = lesson.shown("break")
    assert "\nPartial, 1 of 2 engines: " in shown
    assert "\nPartial: 1 of 2 engines answered; 72 records" in shown
    assert "Engine 1 is gone" in shown
    assert "(36 records) is included" in shown


def test_the_engines_end_before_what_is_optional_and_nothing_after_that_uses_them(lesson):
    names = list(lesson.cells)
    assert lesson.cells["end"].source.startswith("engines.stop()")
    after = [lesson.cells[name] for name in names[names.index("end") + 1 :]]
    code = [cell.source for cell in after if cell.cell_type == "code"]
    assert not any(re.search(r"%%px|\b(engines|client)\.", source) for source in code)
    assert "The engines have ended." in lesson.shown("end")


def test_both_engines_read_one_clock_so_the_wait_that_the_reader_trusts_has_no_doubt(lesson):
    assert re.search(r"engine \d waited [\d.]+ ms", lesson.shown("collect"))
    assert "the same clock" in lesson.shown("collect")
    assert "±" not in lesson.shown("collect")
