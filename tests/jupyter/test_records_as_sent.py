"""What a browser is record_for_browser of a record: bounded, because its page stands still while it reads."""

import json

import pytest
from msgspec.structs import replace

from jupyter_mlgpu.jupyter.notebook.browser.state import RECORD, record_for_browser
from jupyter_mlgpu.record.record import Fact, LogLine
from jupyter_mlgpu.show.receipts import head
from jupyter_mlgpu.testing import example_record


def line(text: str, verdict: str = "unknown") -> LogLine:
    return LogLine(text, None, verdict, None, None, {}, 1, "stderr", "2026-01-01T00:00:00.000000Z", False)


def test_a_record_that_is_small_is_told_whole_with_its_head_in_words():
    record = replace(example_record(), logs=(line("short"),))
    assert record_for_browser(record) == {**record.to_json(), "head": head.of(record).to_json()}


def test_of_ten_megabytes_of_lines_those_that_matter_least_are_left_out_and_counted():
    lines = [line("x" * 1_000) for _ in range(10_000)]
    lines[9_000] = line("act on this " + "x" * 1_000, "action")
    record = replace(example_record(), logs=tuple(lines))
    made = record_for_browser(record)
    assert len(json.dumps(made)) <= RECORD
    assert any(one["verdict"] == "action" for one in made["logs"])
    assert len(made["logs"]) + made["cut"]["logs.unknown"] == 10_000
    assert len(made["logs"]) > 100
    assert len(record.logs) == 10_000


@pytest.mark.parametrize("part", ["facts", "notes"])
def test_of_other_parts_that_are_too_long_the_first_stay_and_the_others_are_counted(part):
    words = "word " * 1_000
    many = {
        "facts": {f"fact {number}": Fact(words, "a test") for number in range(2_000)},
        "notes": tuple(f"{number} {words}" for number in range(2_000)),
    }
    record = replace(example_record(), **{part: many[part]})
    made = record_for_browser(record)
    assert len(json.dumps(made)) <= RECORD
    assert 0 < len(made[part]) == 2_000 - made["cut"][part]


def test_one_line_of_ten_megabytes_is_left_out_and_the_others_stay():
    record = replace(example_record(), logs=(line("x" * 10**7), line("short")))
    made = record_for_browser(record)
    assert [one["text"] for one in made["logs"]] == ["short"]
    assert made["cut"] == {"logs.unknown": 1}
