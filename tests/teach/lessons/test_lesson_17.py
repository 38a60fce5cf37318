"""Lesson 17: its text agrees with the saved run and with the recordings."""

import re
import threading
from pathlib import Path

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
    table = {how: (float(predicted), float(took)) for how, predicted, took in rows(lesson.shown("steps"), 3)}
    sums, ahead, two = table.values()
    assert sums[0] == pytest.approx(loading + computing, abs=0.2)
    assert ahead[0] == pytest.approx(loading, abs=0.2)
    assert two[0] == pytest.approx(computing, abs=0.2)
    assert sums[1] > ahead[1] > two[1]


def rates(lesson):
    """The pictures a second of each kind of work, by threads or processes."""
    table = rows(lesson.shown("processes"), 4)
    return {work: [number(one) for one in found if one != "not measured"] for work, *found in table}


def test_only_the_second_receipt_on_threads_names_python_and_loading_gains_from_a_second_thread(lesson):
    assert "Python" in str(lesson.receipt("gil-python").limit.said)
    assert "Python" not in str(lesson.receipt("gil-decode").limit.said)
    table = rates(lesson)
    assert table["load a picture"][1] > 1.1 * table["load a picture"][0]
    assert table["brighter, loop in Python"][1] < 1.2 * table["brighter, loop in Python"][0]


def test_processes_help_the_loop_and_less_work_helps_more(lesson):
    table = rates(lesson)
    _, threads, processes = table["brighter, loop in Python"]
    assert processes > 1.1 * threads
    assert table["brighter, NumPy"][0] > 5 * processes
    assert table["cut it, decoded before"][0] > 1.5 * table["load a picture"][0]


def test_more_cores_are_in_use_if_batches_are_loaded_ahead(lesson):
    apart, together = (float(row[3]) for row in rows(lesson.shown("cores"), 4))
    assert apart < together


def test_the_predictions_are_near_what_the_h200_did(lesson):
    measured = {row["workers"]: row for row in recorded("17_workers")}
    roof = measured["on the GPU"]["training, pictures/s"]
    assert f"with all batches on the GPU: {roof} pictures a second" in lesson.shown("workers-gpu")
    assert "4 workers needed" in lesson.shown("workers-gpu")
    table = rows(lesson.shown("workers-gpu"), 4)
    assert len(table) == len(measured) - 1
    for count, loading, predicted, training in table:
        assert measured[int(count)]["loading, pictures/s"] == number(loading)
        assert measured[int(count)]["training, pictures/s"] == number(training)
        assert number(training) == pytest.approx(number(predicted), rel=0.12)


def test_the_wait_for_the_first_batch_explains_the_rest(lesson):
    with_wait = re.search(r"first batch waited for: (\d+)", lesson.shown("workers-gpu"))
    twelve = next(row for row in recorded("17_workers") if row["workers"] == 12)
    assert twelve["training, pictures/s"] == pytest.approx(int(with_wait[1]), rel=0.03)


def test_the_bandwidths_in_the_code_are_those_of_the_recording(lesson):
    of_16 = next(row for row in recorded("17_copies") if row["MB"] == 16)
    source = lesson.cells["types-gpu"].source
    assert f'("pageable", {of_16["pageable, GB/s"]}), ("pinned", {of_16["pinned, GB/s"]})' in source


def test_making_floats_takes_longer_than_copying_them(lesson):
    shown = lesson.shown("types-gpu")
    copying = max(float(one) for one in re.findall(r"float32 .*pinned +: ([\d.]+) ms", shown))
    assert float(re.search(r"on this processor: (\d+) ms", shown)[1]) > 5 * copying


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


def test_without_a_bound_memory_grows_more_in_the_same_time(lesson):
    bounded, unbounded = (lesson.receipt(name) for name in ("break-bounded", "break-unbounded"))
    grown = [one.reading("memory_growth").value for one in (bounded, unbounded)]
    assert grown[1] > 2 * grown[0]
    took = [one.reading("wall_time").value for one in (bounded, unbounded)]
    assert took[1] == pytest.approx(took[0], rel=0.2)


def test_a_copied_generator_repeats_itself_and_one_made_in_the_worker_does_not():
    copied, anew, of_torch = recorded("17_seeds")
    assert (copied["no workers"], copied["4 workers"], copied["4 workers, 2 epochs"]) == (16, 4, 4)
    for row in (anew, of_torch):
        assert (row["4 workers"], row["4 workers, 2 epochs"]) == (16, 32)


def test_the_code_for_the_seeds_is_that_which_was_recorded(lesson):
    script = (Path(__file__).parents[2] / "device" / "lesson_tables" / "17_seeds.py").read_text()
    shown = [line.strip() for line in lesson.cells["seeds-read"].source.splitlines()]
    lines = [line.replace("torch.utils.data.", "") for line in shown if line.startswith("worker")]
    assert len(lines) == 3
    assert all(line in script for line in lines[:2])


def test_an_answer_that_never_ends_is_judged_in_the_end():
    def waits_for_ever(batches, ahead):
        threading.Event().wait()
        yield

    verdict = check("prefetch", waits_for_ever)
    assert verdict.state == "wrong"
    assert "yes" not in re.findall(r"'(yes|no)' +'yes'", repr(verdict))
