"""Lesson 17: what its text says of the saved run and of the recordings is so."""

import re
import threading

import pytest

from jupyter_mlgpu.teach.lessons import check, recordings


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("17")


def rows(shown, columns):
    """The rows of a table in text, below its header."""
    found = [re.split(r" {2,}", line.strip()) for line in shown.splitlines()]
    return [row for row in found if len(row) == columns][1:]


def number(text):
    return float(text.replace(",", ""))


def recorded(name):
    return recordings.read(recordings.FOLDER / f"{name}.json").data["rows"]


def test_the_better_the_gpu_is_fed_the_busier_it_is_and_loading_limits_only_the_starved_one(lesson):
    receipts = re.findall(r"^\[mlgpu\] replayed: .*$", lesson.shown("starved"), re.MULTILINE)
    busy = [int(re.search(r"GPU busy (\d+) %", one)[1]) for one in receipts]
    assert busy == sorted(busy)
    assert busy[0] < 30 < 80 < busy[2]
    assert [("preparing input" in one) for one in receipts][::3] == [True, False]


def test_one_after_the_other_a_step_takes_the_sum_and_ahead_the_longer_time(lesson):
    loading, computing = map(float, re.findall(r"([\d.]+) ms", lesson.shown("loading")))
    assert computing == pytest.approx(0.6 * loading, abs=0.1)
    table = {how: (float(told), float(took)) for how, told, took in rows(lesson.shown("steps"), 3)}
    sums, ahead, two = table.values()
    assert sums[0] == pytest.approx(loading + computing, abs=0.2)
    assert ahead[0] == pytest.approx(loading, abs=0.2)
    assert two[0] == pytest.approx(computing, abs=0.2)
    assert sums[1] > ahead[1] > two[1]


def test_only_the_second_receipt_on_threads_names_python_and_decoding_gains_from_a_second_thread(lesson):
    assert "Python" in str(lesson.receipt("gil-python").limit.said)
    assert "Python" not in str(lesson.receipt("gil-decode").limit.said)
    table = {int(row[0]): (number(row[1]), number(row[2])) for row in rows(lesson.shown("gil-chart"), 3)}
    assert table[2][0] > 1.1 * table[1][0]
    assert table[2][1] < 1.2 * table[1][1]


def test_two_processes_do_what_two_threads_could_not_and_numpy_more(lesson):
    threads, processes, numpy = (number(row[1]) for row in rows(lesson.shown("processes"), 2))
    assert processes > 1.1 * threads
    assert numpy > 5 * processes


def test_more_cores_are_in_use_if_batches_are_loaded_ahead(lesson):
    apart, together = (float(row[3]) for row in rows(lesson.shown("cores"), 4))
    assert apart < together


def test_the_times_that_the_functions_are_asked_about_are_those_of_the_recording(lesson):
    source = lesson.cells["workers-gpu"].source
    one, roof = map(int, re.search(r"= 64 / (\d+), 64 / (\d+)", source).groups())
    measured = {row["workers"]: row for row in recorded("17_workers")}
    assert measured[1]["loading, pictures/s"] == one
    assert measured["on the GPU"]["training, pictures/s"] == roof
    told = dict(
        re.findall(r"^ ?(\d+) workers: +([\d,]+) pictures", lesson.shown("workers-gpu"), re.MULTILINE)
    )
    for count, rate in told.items():
        assert measured[int(count)]["training, pictures/s"] == pytest.approx(number(rate), rel=0.3)


def test_pinned_copies_are_faster_and_rates_are_bytes_over_time():
    for row in recorded("17_copies"):
        assert row["pinned, GB/s"] > 2 * row["pageable, GB/s"]
        for kind in ("pinned", "pageable"):
            assert row[f"{kind}, GB/s"] == pytest.approx(row["MB"] / row[f"{kind}, ms"], rel=0.05)
    assert recorded("17_link") == [
        {"PCIe, at most": "5", "PCIe, now": "5", "lanes, at most": "16", "lanes, now": "16"}
    ]


def test_a_pinned_copy_in_another_stream_is_hidden_and_a_pageable_one_holds_python_up(lesson):
    table = {(row["memory"], row["stream"]): row for row in recorded("17_overlap")}
    hidden, after = table["pinned", "another"], table["pinned", "the same"]
    assert hidden["both, ms"] < 1.05 * hidden["computing, ms"]
    assert after["both, ms"] > 0.85 * (after["computing, ms"] + after["copy, ms"])
    assert max(one["Python held up, ms"] for one in (hidden, after)) < 1
    assert table["pageable", "another"]["Python held up, ms"] > table["pageable", "another"]["computing, ms"]


def test_bytes_are_a_quarter_of_floats_and_the_gpu_is_quicker_at_converting():
    as_bytes, as_floats = recorded("17_types")
    assert as_floats["MB"] == 4 * as_bytes["MB"]
    assert as_floats["copied, ms"] == pytest.approx(4 * as_bytes["copied, ms"], rel=0.1)
    assert as_bytes["all of it, ms"] < as_floats["copied, ms"]


def test_without_a_bound_memory_grows_more_in_the_same_time(lesson):
    bounded, unbounded = (lesson.receipt(name) for name in ("break-bounded", "break-unbounded"))
    grown = [one.reading("memory_growth").value for one in (bounded, unbounded)]
    assert grown[1] > 2 * grown[0]
    took = [one.reading("wall_time").value for one in (bounded, unbounded)]
    assert took[1] == pytest.approx(took[0], rel=0.2)


def test_workers_with_one_seed_do_the_same_work_four_times(lesson):
    assert "the same seed: 32 different places in 128 pictures" in lesson.shown("break-seeds")
    own_generator, of_numpy = recorded("17_seeds")
    assert own_generator["without workers"] == 4 * own_generator["4 workers"] == 16
    assert of_numpy["4 workers"] == 16


def test_an_answer_that_never_ends_is_judged_in_the_end():
    def waits_for_ever(batches, ahead):
        threading.Event().wait()
        yield

    verdict = check("prefetch", waits_for_ever)
    assert verdict.state == "wrong"
    assert "yes" not in re.findall(r"'(yes|no)' +'yes'", repr(verdict))
