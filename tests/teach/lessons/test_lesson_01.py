"""Lesson 01: its machines and lines, its small doctor and the real one, and where work ran hold together."""

import ast
import re

import pytest

from jupyter_mlgpu.explain.doctor.diagnose import diagnose, find_checks
from jupyter_mlgpu.explain.doctor.reading import from_json
from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.explain.logs.reader import LogReader
from jupyter_mlgpu.teach.lessons.exercises.lesson_01 import diagnosis, older, reasons, severity

CHECKS = {"2018": "library-path-lost", "2022": "system-version-compat", "2026": "metal-plugin-version"}


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("01")


# ---- the doctor and three machines


@pytest.fixture(scope="module")
def machines(lesson):
    """The recorded machines, as the lesson has them."""
    return ast.literal_eval(lesson.cells["machines"].source.partition(" = ")[2])


@pytest.fixture(scope="module")
def facts_of(lesson):
    """The lesson's own function that writes a facts file."""
    names = {}
    exec(lesson.cells["three"].source.partition("\n\n\nfolder")[0], names)
    return names["facts_of"]


def found(facts):
    return [one.id for one in diagnose(from_json(facts)).findings]


def test_the_small_doctor_names_the_check_that_the_real_one_names(machines, facts_of):
    assert {year: diagnosis(machine) for year, machine in machines.items()} == CHECKS
    assert {year: found(facts_of(machine)) for year, machine in machines.items()} == {
        year: [check] for year, check in CHECKS.items()
    }


def test_what_is_saved_names_these_checks_by_both_doctors(lesson):
    text = lesson.shown("three")
    assert re.findall(r"^(\d{4})  (\S+)", text, re.MULTILINE) == [*CHECKS.items()]
    assert re.findall(r"^1\. .*; ([a-z-]+)\)$", text, re.MULTILINE) == [*CHECKS.values()]


def test_a_machine_with_the_older_tensorflow_is_healthy(machines, facts_of):
    mended = machines["2026"] | {"packages": {"tensorflow": "2.19.1", "tensorflow-metal": "1.2.0"}}
    assert found(facts_of(mended)) == []


def test_without_its_packages_nothing_is_found_and_fewer_checks_could_judge(lesson, machines, facts_of):
    assert lesson.shown("less").startswith("Nothing is wrong here, as far as ")
    less = {key: value for key, value in facts_of(machines["2026"]).items() if key != "packages"}
    judged = [diagnose(from_json(one)).results for one in (less, facts_of(machines["2026"]))]
    few, more = (sum(result.status != "skipped" for result in results) for results in judged)
    assert few < more


def test_the_first_and_the_last_line_begin_alike(machines):
    first, _, last = (machine["line"].split("/")[0] for machine in machines.values())
    assert first == last


def test_the_versions_of_its_table_are_those_that_the_doctor_accepts(lesson):
    row = next(line for line in lesson.prose("own-read").splitlines() if "1.2.0 |" in line)
    assert "3.9 to 3.12" in row
    assert "macOS 12 or newer" in row

    def judged(check, **machine):
        facts = {
            "machine": {"system": "Darwin", "architecture": "arm64", "macos": machine.get("macos", "15.6")},
            "python": {"version": machine.get("python", "3.12.1")},
            "packages": {"tensorflow": {"version": "2.19.1"}, "tensorflow-metal": {"version": "1.2.0"}},
        }
        (result,) = [one for one in diagnose(from_json({"schema": 1, **facts})).results if one.id == check]
        return result.status

    assert [judged("metal-python", python=one) for one in ("3.12.9", "3.13.0")] == ["ok", "finding"]
    assert [judged("metal-macos", macos=one) for one in ("12.0", "11.6")] == ["ok", "finding"]


def test_the_doctor_has_as_many_checks_as_the_lesson_says(lesson):
    assert "more than sixty checks" in lesson.prose("question")
    assert len(find_checks()) > 60


def test_what_was_found_here_is_compared_with_the_prediction(lesson):
    (number,) = re.findall(r"It was (\d+)\.", lesson.shown("own"))
    assert len(re.findall(r"^\d+\. .*; [a-z-]+\)$", lesson.shown("own"), re.MULTILINE)) == int(number)


def test_versions_are_compared_number_by_number():
    assert older("2.9.1", "2.20.0")
    assert not older("2.20.0", "2.20.0")
    assert not older("10.0.0", "9.9.9")


# ---- the lines


def read(log):
    """What the kit reads in a log."""
    reader = LogReader(Catalogue.load())
    reader.feed("recorded", log.encode(), "")
    return reader.finish()


@pytest.fixture(scope="module")
def recorded(lesson):
    """The recorded lines, as the lesson has them."""
    return re.search(r'"""\\\n(.*?)"""', lesson.prose("recorded"), re.DOTALL)[1]


def test_the_kit_explains_all_nine_recorded_lines(recorded):
    lines = read(recorded).lines
    assert [one.text for one in lines] == recorded.splitlines()
    assert len(lines) == 9
    assert all(one.id for one in lines)


def test_the_only_error_is_harmless_and_the_only_call_for_action_is_an_information(recorded):
    rows = [(severity(one.text), one.verdict) for one in read(recorded).lines]
    assert [verdict for letter, verdict in rows if letter == "E"] == ["harmless"]
    assert [letter for letter, verdict in rows if verdict in ("action", "fatal")] == ["I"]
    assert sum(letter == "I" for letter, _ in rows) == 5


def test_what_is_saved_says_the_same_of_them(lesson, recorded):
    rows = re.findall(r"^([IWEF-])  (\w+) ", lesson.shown("explain"), re.MULTILINE)
    assert rows == [(severity(one.text) or "-", one.verdict) for one in read(recorded).lines]
    assert "It was 1." in lesson.shown("explain")


def test_every_note_of_the_import_is_known_and_has_the_letter_that_the_parser_finds(lesson):
    texts = [line.text for line in lesson.receipt("tensorflow").logs]
    assert all(line.id for line in lesson.receipt("tensorflow").logs)
    assert any(re.match(r"[IWEF]\d{4} ", one) for one in texts), "no line of abseil's"
    for text in texts:
        there = re.match(r"(?:\S+ \S+: )?([IWEF])(?:\d{4})? ", text)
        assert severity(text) == (there[1] if there else "")
        assert there or text.startswith("WARNING: All log messages before absl")


def test_no_memory_in_a_line_says_nothing_of_shared_memory(lesson, recorded):
    """A Mac with a card of its own printed it, too: tensorflow#57058, a Radeon Pro 555X."""
    assert "with 0 MB memory" in recorded
    definition = Catalogue.load().definitions["pluggable-device-created"]
    assert "tensorflow/tensorflow#57058" in definition.source
    assert "*unified memory*" not in lesson.prose("explain-read")


# ---- where it ran


def test_a_missing_device_gives_the_right_numbers_and_the_receipt_says_where(lesson):
    assert lesson.shown("break-missing") == "[[22. 28.]\n [49. 64.]]\n"
    assert any("not on gpu:7" in note for note in lesson.receipt("break-missing").notes)


def test_the_plan_keeps_einsum_on_the_processor(lesson):
    assert re.search(r"stay on the CPU \(Einsum", lesson.shown("plan"))


# ---- the appendix


@pytest.fixture(scope="module")
def fork(lesson):
    """The recorded log of Apple's fork."""
    return re.search(r'"""\\\n(.*?)"""', lesson.prose("fork"), re.DOTALL)[1]


def test_the_kit_explains_every_line_of_the_fork_and_each_stands_in_the_catalogue_s_own_reports(fork):
    notes = read(fork)
    assert [one.text for one in notes.lines] == fork.splitlines()
    definitions = Catalogue.load().definitions
    cited = "".join(definitions[one.id].source for one in notes.lines)
    assert [number for number in (195, 257) if f"apple/tensorflow_macos#{number}" not in cited] == []


def test_the_forks_lines_are_all_information_and_three_of_its_subgraphs_are_of_the_backward_pass(fork):
    assert {severity(line) for line in fork.splitlines()} == {"I"}
    subgraphs = read(fork).facts["mlc_subgraphs"].value
    assert subgraphs["nodes"]["MLCSubgraphOp_0_1"] == {"dropout/RealDiv": "RealDiv"}
    backward = [one for one in subgraphs["fell_back"] if one.startswith("train/gradients/")]
    assert (len(backward), len(subgraphs["fell_back"])) == (3, 5)


def test_the_reasons_are_those_that_the_kit_reads(lesson, fork):
    by_kit = read(fork).facts["mlc_subgraphs"].value["nodes"]
    assert reasons(fork) == {name: next(iter(nodes)) for name, nodes in by_kit.items()}
    for name, operation in reasons(fork).items():
        assert f"{name}: {operation}\n" in lesson.shown("check-reasons")


def test_every_form_that_the_lesson_shows_is_read_as_the_kit_reads_it(lesson):
    shown = re.findall(r"^    … (TensorFlow graph .*)$", lesson.prose("appendix-says"), re.MULTILINE)
    lines = [f"Compute: Failed in processing {one.replace('…', 'with frame_id = 0')}" for one in shown]
    assert len(lines) == 3
    for line in lines:
        notes = read(f"2021-03-08 20:50:58.716976: I a/b.cc:332] {line}\n")
        ((name, nodes),) = notes.facts["mlc_subgraphs"].value["nodes"].items()
        assert reasons(f"{line}\n") == {name: next(iter(nodes))}
