"""Lesson 01: what its text says of the recorded lines and of placement holds in the saved notebook."""

import re

import pytest

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.teach.lessons.exercises.lesson_01 import reasons, severity


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("01")


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


@pytest.fixture(scope="module")
def fork(lesson):
    """What the kit reads in the recorded log of Apple's fork."""
    log = re.search(r'"""\\\n(.*?)"""', lesson.prose("fork"), re.DOTALL)[1]
    reader = LogReader(Catalogue.load())
    reader.feed("recorded", log.encode(), "")
    return log, reader.finish()


def test_the_kit_explains_every_line_of_the_fork_and_each_stands_in_the_catalogue_s_own_reports(fork):
    log, notes = fork
    assert [one.text for one in notes.lines] == log.splitlines()
    assert all(one.id for one in notes.lines)
    definitions = Catalogue.load().definitions
    cited = "".join(definitions[one.id].source for one in notes.lines)
    assert [number for number in (71, 195, 257) if f"apple/tensorflow_macos#{number}" not in cited] == []


def test_the_forks_lines_of_native_code_are_all_information_and_its_subgraphs_fell_back(fork):
    log, notes = fork
    assert {severity(line) for line in log.splitlines()[1:]} == {"I"}
    subgraphs = notes.facts["mlc_subgraphs"].value
    assert subgraphs["converted"] == ["MLCSubgraphOp_0_0"]
    assert "MLCSubgraphOp_0_0" not in subgraphs["nodes"]
    assert subgraphs["nodes"]["MLCSubgraphOp_0_1"] == {"dropout/RealDiv": "RealDiv"}
    backward = [one for one in subgraphs["fell_back"] if one.startswith("train/gradients/")]
    assert len(backward) == 3
    assert len(subgraphs["fell_back"]) == 5


def test_the_picture_of_the_fork_shows_each_subgraph_with_its_reason(lesson, fork):
    _, notes = fork
    drawn = lesson.shown("fork-picture")
    for name, nodes in notes.facts["mlc_subgraphs"].value["nodes"].items():
        (node,) = nodes
        assert f"  {name} (fell back to the CPU) takes {node}\n" in f"{drawn}\n"


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


def test_the_reasons_are_those_that_the_kit_reads_also_where_lines_are_shuffled(lesson, fork):
    log, notes = fork
    by_kit = notes.facts["mlc_subgraphs"].value["nodes"]
    assert reasons(log) == {name: next(iter(nodes)) for name, nodes in by_kit.items()}
    assert lesson.shown("shuffled").count("the reasons are the kit's: True\n") == 2


def test_every_form_that_the_lesson_shows_is_read_as_the_kit_reads_it(lesson):
    shown = re.findall(r"^    … (TensorFlow graph .*)$", lesson.prose("hard-says"), re.MULTILINE)
    lines = [f"Compute: Failed in processing {one.replace('…', 'with frame_id = 0')}" for one in shown]
    assert len(lines) == 3
    for line in lines:
        reader = LogReader(Catalogue.load())
        reader.feed("recorded", f"2021-03-08 20:50:58.716976: I a/b.cc:332] {line}\n".encode(), "")
        ((name, nodes),) = reader.finish().facts["mlc_subgraphs"].value["nodes"].items()
        assert reasons(f"{line}\n") == {name: next(iter(nodes))}


def test_no_memory_in_a_line_says_nothing_of_shared_memory(lesson, recorded):
    """A Mac with a card of its own printed it, too: tensorflow#57058, a Radeon Pro 555X."""
    assert "with 0 MB memory" in recorded
    definition = Catalogue.load().definitions["pluggable-device-created"]
    assert "tensorflow/tensorflow#57058" in definition.source
    assert "shared" not in lesson.shown("explain")
    assert "*unified memory*" not in lesson.prose("explain-read")
