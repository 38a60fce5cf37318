"""The tour: what it says of receipts, devices and lessons holds in the saved notebook."""

import re

import pytest

from jupyter_mlgpu.teach.lessons.counting import count_progress
from tests.teach.lessons.conftest import LEARNERS, TRANSLATED, read


@pytest.fixture(scope="module")
def tour(saved_lesson):
    return saved_lesson("00")


def seconds(record, quantity):
    return record.reading(quantity).value


def test_a_sleeping_cell_takes_a_second_and_next_to_no_cpu_time(tour):
    slept = tour.receipt("sleep")
    assert 1 <= seconds(slept, "wall_time") < 1.5
    assert seconds(slept, "cpu_time") < 0.1
    printed = f"It was {round(seconds(slept, 'cpu_time') * 1000)}."
    assert printed in tour.shown("sleep-compare")


def test_the_first_receipt_tells_of_no_device_and_one_with_a_framework_does(tour):
    assert not tour.receipt("first").device.ran_on
    assert [place.device for place in tour.receipt("on-the-cpu").device.ran_on] == ["cpu:0"]


def test_what_was_not_measured_has_its_reason_in_the_first_receipt(tour):
    missing = [one for one in tour.receipt("first").readings if one.value is None]
    assert missing
    assert all(one.why_missing for one in missing)


def test_the_list_of_devices_says_why_there_is_no_gpu(tour):
    cpu, gpu = tour.shown("devices").splitlines()[-2:]
    assert cpu.startswith("cpu:0")
    assert gpu.startswith("gpu:    none: ")
    assert tour.shown("device").startswith("'cpu:0, ")


def test_every_magic_of_its_table_is_there(tour):
    from jupyter_mlgpu.jupyter.notebook.magics.magics import MlgpuMagics

    named = set(re.findall(r"`%{1,2}(mlc_\w+)", tour.prose("on-the-cpu-read") + tour.prose("device-says")))
    assert named == {"mlc_device", "mlc_trace", "mlc_race", "mlc_plan", "mlc_doctor"}
    assert all(hasattr(MlgpuMagics, name) for name in named)


def test_its_picture_draws_wall_and_cpu_time_of_each_cell_so_far(tour):
    shown = tour.shown("chart")
    assert shown.startswith("A chart of seconds over cell, in the order of the table: wall time, CPU time.")
    assert len(re.findall(r"^ *\d ", shown, re.MULTILINE)) == 5


def test_the_story_of_the_macs_gpu_names_and_links_a_source_for_each_of_its_times(tour):
    told = tour.prose("break-says").partition("## Optional: ")[2].partition("## Sources")[0]
    lines = re.findall(r"^\* \*\*(?:(\d{4}), |(Today)).*$", told, re.MULTILINE)
    assert [year or today for year, today in lines] == ["2018", "2020", "2021", "Today"]
    assert all("](https://" in line for line in told.splitlines() if line.startswith("* "))


def test_it_lists_all_lessons_by_the_titles_that_they_have():
    for paths in (LEARNERS, TRANSLATED):
        titles = [read(path).cells[0].source.splitlines()[0].removeprefix("# ") for path in paths]
        tour = next(cell.source for cell in read(paths[0]).cells if cell.id == "show-says")
        listed = re.findall(r"^(\d+)\. (.+)$", tour, re.MULTILINE)
        assert [f"{number} · {title}" for number, title in listed] == titles[1:]


def test_it_counts_the_checks_and_predictions_of_all_lessons_as_they_are_today(tour):
    found = [
        count_progress(cell for cell in read(path).cells if cell.cell_type == "code") for path in LEARNERS
    ]
    checks, predictions = sum(one.checks for one in found), sum(one.predictions for one in found)
    said = f"0 of {checks} checks passed, 0 of {predictions} predictions made in this folder's lessons"
    assert tour.shown("progress").startswith(said)
