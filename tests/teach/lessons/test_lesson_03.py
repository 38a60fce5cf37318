"""Lesson 03: what its text says of the recorded lines and of placement holds in the saved notebook."""

import re

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.teach.lessons.exercises.lesson_03 import severity


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("03")


@pytest.fixture(scope="module")
def recorded(lesson):
    """The recorded lines, as the lesson has them."""
    return re.search(r'"""\\\n(.*?)"""', lesson.prose("recorded"), re.DOTALL)[1]


def test_the_kit_explains_all_nine_recorded_lines(recorded):
    reader = LogReader(Catalogue.load())
    reader.feed("recorded", recorded.encode(), "")
    lines = reader.finish().lines
    assert [one.text for one in lines] == recorded.splitlines()
    assert len(lines) == 9
    assert all(one.id for one in lines)


def test_the_only_error_is_harmless_and_the_only_call_for_action_is_an_information(lesson):
    rows = re.findall(r"^([IWEF-])  (\w+) ", lesson.shown("explain"), re.MULTILINE)
    assert len(rows) == 9
    assert [verdict for letter, verdict in rows if letter == "E"] == ["harmless"]
    assert [letter for letter, verdict in rows if verdict in ("action", "fatal")] == ["I"]
    assert "It was 1." in lesson.shown("count-action")


def test_every_note_of_the_import_is_known(lesson):
    assert all(line.id for line in lesson.receipt("import").logs)
    shown = re.findall(r"^\d+ x ", lesson.shown("own-notes"), re.MULTILINE)
    assert len(shown) == len(lesson.receipt("import").logs)


def test_the_parser_finds_the_letter_of_every_line_of_the_learners_own_log(lesson):
    texts = [line.text for line in lesson.receipt("import").logs]
    assert any(re.match(r"[IWEF]\d{4} ", one) for one in texts), "no line of abseil's"
    for text in texts:
        there = re.match(r"(?:\S+ \S+: )?([IWEF])(?:\d{4})? ", text)
        assert severity(text) == (there[1] if there else "")
        assert there or text.startswith("WARNING: All log messages before absl")
    assert len(re.findall(r"^[IWEF]  \w", lesson.shown("own-letters"), re.MULTILINE)) == len(texts) - 1


def test_the_product_is_the_same_on_every_device_and_the_receipt_names_them_all(lesson):
    assert lesson.shown("product") == "{'[[22, 28], [49, 64]]'}\n"
    assert [place.device for place in lesson.receipt("product").device.ran_on] == ["cpu:0", "cpu:1"]


def test_a_missing_device_gives_the_right_numbers_and_the_receipt_says_where(lesson):
    assert lesson.shown("break-missing") == "[[22. 28.]\n [49. 64.]]\n"
    assert any("not on gpu:7" in note for note in lesson.receipt("break-missing").notes)
    assert lesson.shown("break-strict") == "refused: True\n"
