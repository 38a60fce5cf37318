"""Lesson 09: what its text says of the saved run, and of the published figures, is so."""

import ast
import itertools
import re
from pathlib import Path

import nbformat
import pytest

from jupyter_mlgpu.teach.lessons import recordings
from jupyter_mlgpu.teach.lessons.exercises.lesson_09 import step_costs

LESSONS = Path(__file__).resolve().parents[3] / "notebooks"


@pytest.fixture(scope="module")
def cells():
    return {one.id: one for one in nbformat.read(LESSONS / "09_throughput.ipynb", 4).cells}


def shown(cell):
    return "\n".join(one.get("text") or one.data["text/plain"] for one in cell.outputs)


def rows(cell):
    """The rows of a table without its header, each a list of cells; what is replayed below it is left out."""
    own = shown(cell).partition("\nReplayed, ")[0]
    lines = [line for line in own.splitlines() if "  " in line and not line.startswith("[mlgpu]")]
    return [re.split(r" {2,}", line.strip()) for line in lines[1:]]


def test_the_published_images_a_joule_are_the_published_rates_and_watts(cells):
    table = dict(re.findall(r"\| (ResNet50 \| 128|MobileNetV2 \| 128) \| (.*) \|", cells["published"].source))
    assert len(table) == 2
    for network, line in table.items():
        figures = re.findall(r"([\d,]+) images/s, (\d+) W", line)
        for machine, (rate, watts) in zip(("M1 Max", "RTX 3090"), figures, strict=True):
            each = float(rate.replace(",", "")) / float(watts)
            told = rf"{network.split(' ')[0]} +{machine} +{each:.1f} images a joule"
            assert re.search(told, shown(cells["joule-published"]))


def test_both_networks_have_a_rate_and_first_epochs_are_the_slower_ones(cells):
    measured = rows(cells["table"])
    assert {row[0] for row in measured} == {"MobileNetV2", "ResNet50"}
    for row in measured:
        lowest, highest = sorted((float(row[3]), float(row[4])))
        assert lowest <= float(row[2]) <= highest
    firsts = [(float(row[5]), float(row[6])) for row in measured if row[1] == "1"]
    assert all(first > later for first, later in firsts)


def test_the_chosen_batches_are_among_those_that_were_tried(cells):
    chosen = ast.literal_eval(cells["enough-here"].outputs[0].data["text/plain"])
    tried = {(row[0], int(row[1])) for row in rows(cells["table"])}
    assert set(chosen.items()) <= tried


def test_each_switch_has_a_rate_and_xla_s_first_epoch_takes_longer(cells):
    measured = {tuple(row[1:3]): row for row in rows(cells["switches"]) if row[0] == "small"}
    assert len(measured) == 4
    for numbers in ("float32", "mixed_bfloat16"):
        assert float(measured[numbers, "on"][-1]) > float(measured[numbers, "off"][-1])


def test_the_clues_of_the_text_are_those_of_the_recordings():
    """The recorded GPU waits: neither switch gains, and four times the batch takes the same time."""
    kept = {name: recordings.read(recordings.FOLDER / f"09_{name}.json").data["rows"]
            for name in ("switches", "epochs")}  # fmt: skip
    small = [float(row["images/s"]) for row in kept["switches"] if row["network"] == "small"]
    assert max(small) == small[0], "the text says that the switches gain nothing"
    times = {
        row["batch"]: float(row["later epochs, s"]) for row in kept["epochs"] if row["network"][0] == "M"
    }
    assert times[32] == pytest.approx(times[8], rel=0.05)


def test_the_steps_that_the_hard_exercise_is_asked_about_are_those_of_the_recording(cells):
    """Ten steps an epoch; and with the reference's answer most of a small step is fixed."""
    kept = recordings.read(recordings.FOLDER / "09_epochs.json").data["rows"]
    steps = {
        row["batch"]: float(row["later epochs, s"]) / 10 for row in kept if row["network"] == "MobileNetV2"
    }
    asked = re.search(r"costs\.answer\((\[.*?\]), (\[.*?\])\)", cells["step-costs-here"].source)
    batches, seconds = map(ast.literal_eval, asked.groups())
    assert dict(zip(batches, seconds, strict=True)) == pytest.approx(steps, abs=0.0006)
    fixed, most = step_costs(batches, seconds)
    assert 0.5 < fixed / seconds[0] < 1
    assert most > batches[-1] / seconds[-1]
    assert not [one for one in cells["step-costs-here"].outputs if one.output_type == "stream"]


def test_energy_is_measured_or_it_is_said_why_not(cells):
    (row,) = rows(cells["energy"])
    assert row[0].startswith("none: ") or len(row) == 4


def test_the_receipt_has_items_a_second(cells):
    assert re.search(r"64 items: [\d.]+ per second", shown(cells["items"]))


def test_batches_that_come_one_by_one_cost_more_than_half_and_fetched_ahead_some_is_won_back(cells):
    found = re.findall(
        r"^(in memory|one by one|ahead).*? {2,}([\d.]+)$", shown(cells["input-ahead"]), re.MULTILINE
    )
    rates = {told: float(rate) for told, rate in found}
    assert rates["one by one"] < rates["in memory"] / 2
    assert rates["ahead"] > 1.5 * rates["one by one"]


def test_the_factors_of_the_table_multiply_to_the_whole_and_nearly_three_quarters_of_a_step_go_with_fit(
    saved_lesson,
):
    prose = saved_lesson("09").prose("slow-gpu")
    table = re.findall(r"^\| [^|]*? \| ([\d,]+) \| ([\d.]*) ?\|$", prose, re.MULTILINE)
    rates = [float(rate.replace(",", "")) for rate, _ in table]
    factors = [float(factor) for _, factor in table[1:]]
    assert len(rates) == 7
    assert factors == pytest.approx([after / before for before, after in itertools.pairwise(rates)], rel=0.02)
    in_fit, in_loop = 128 / rates[0], 128 / rates[1]
    assert "nearly three quarters of the step" in prose
    assert 0.7 < (in_fit - in_loop) / in_fit < 0.75
    assert f"{in_fit:.3f} s in `fit`, and {in_loop:.3f} s in the plain loop" in prose
