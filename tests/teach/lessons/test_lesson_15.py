"""Lesson 15: its recorded machines, its small doctor and the real one say the same; its table holds."""

import ast
import random
import re

import pytest

from jupyter_mlgpu.explain.doctor.diagnose import diagnose, find_checks
from jupyter_mlgpu.explain.doctor.reading import from_json
from jupyter_mlgpu.teach.lessons.exercises.lesson_15 import EXERCISES, diagnosis, faults, older

CHECKS = {"2018": "library-path-lost", "2022": "system-version-compat", "2026": "metal-plugin-version"}


@pytest.fixture(scope="module")
def lesson(saved_lesson):
    return saved_lesson("15")


@pytest.fixture(scope="module")
def machines(lesson):
    """The recorded machines, as the lesson has them."""
    return ast.literal_eval(lesson.cells["recorded"].source.partition(" = ")[2])


@pytest.fixture(scope="module")
def facts_of(lesson):
    """The lesson's own function that writes a facts file."""
    names = {}
    exec(lesson.cells["facts"].source.partition("\n\n\nfolder")[0], names)
    return names["facts_of"]


def found(facts):
    return [one.id for one in diagnose(from_json(facts)).findings]


def test_the_small_doctor_names_the_check_that_the_real_one_names(machines, facts_of):
    assert {year: diagnosis(machine) for year, machine in machines.items()} == CHECKS
    assert {year: found(facts_of(machine)) for year, machine in machines.items()} == {
        year: [check] for year, check in CHECKS.items()
    }


def test_what_is_saved_names_these_checks(lesson):
    assert re.findall(r"^(\d{4})  (\S+)", lesson.shown("small-doctor"), re.MULTILINE) == [*CHECKS.items()]
    for cell, check in zip(("first", "second", "third"), CHECKS.values(), strict=True):
        assert f"; {check})" in lesson.shown(cell)


def test_a_machine_with_the_older_tensorflow_is_healthy(machines, facts_of):
    mended = machines["2026"] | {"packages": {"tensorflow": "2.19.1", "tensorflow-metal": "1.2.0"}}
    assert found(facts_of(mended)) == []


def test_without_its_packages_nothing_is_found_and_fewer_checks_could_judge(lesson):
    def judged(cell):
        return int(re.search(r"(\d+) checks? ", lesson.shown(cell))[1])

    assert lesson.shown("less").startswith("Nothing is wrong here, as far as ")
    assert judged("less") < judged("third")


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
    assert "more than sixty checks" in lesson.prose("load-says")
    assert len(find_checks()) > 60


def test_what_was_found_here_is_compared_with_the_prediction(lesson):
    (number,) = re.findall(r"It was (\d+)\.", lesson.shown("own-compare"))
    assert len(re.findall(r"^\d+\. .*; [a-z-]+\)$", lesson.shown("own"), re.MULTILINE)) == int(number)


def test_versions_are_compared_number_by_number():
    assert older("2.9.1", "2.20.0")
    assert not older("2.20.0", "2.20.0")
    assert not older("10.0.0", "9.9.9")


def test_the_four_checks_find_what_the_real_ones_find_in_the_same_order(facts_of):
    exercise = next(one for one in EXERCISES if one.name == "faults")
    drawn = [exercise.example, *(exercise.fresh(random.Random(seed)) for seed in range(20))]
    machines = [machine for one in drawn for machine in one["machines"]]
    four = {name for machine in machines for name in faults(machine)}
    assert four == {"metal-macos", *CHECKS.values()}
    for machine in machines:
        assert faults(machine) == [one for one in found(facts_of(machine)) if one in four], machine


def test_the_real_doctor_agrees_on_the_machine_that_has_three(lesson):
    assert lesson.shown("faults-here") == "as the doctor says: True\n"
