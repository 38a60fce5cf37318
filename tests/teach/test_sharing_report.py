"""A report to the teacher's view: what leaves of a record, that nothing else does, how strictly it reads."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from msgspec.structs import replace
from tracked import tracked

import jupyter_mlgpu
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.reading import Reading, missing
from jupyter_mlgpu.record.record import DeviceUse, Fact, LogLine, OpStat, RanOn, Record
from jupyter_mlgpu.teach.lessons import exercises
from jupyter_mlgpu.teach.packaged import FORMER, FORMER_EXERCISES, LESSONS
from jupyter_mlgpu.teach.sharing import report, shared_fields
from jupyter_mlgpu.teach.sharing.report import SharedCheck
from jupyter_mlgpu.testing import example_record

PACKAGE = Path(jupyter_mlgpu.__file__).parent
NOW = 1_795_000_000.5

#: Every field that leaves. docs/teacher.md has this table: whoever changes one changes the other.
DOCUMENTED = {
    "schema",
    "lesson",
    "sent_at",
    "records[].id",
    "records[].run",
    "records[].number",
    "records[].execution_count",
    "records[].started_at",
    "records[].outcome",
    "records[].framework",
    "records[].framework_version",
    "records[].device",
    "records[].readings[].quantity",
    "records[].readings[].value",
    "records[].readings[].unit",
    "records[].readings[].scope",
    "records[].readings[].source",
    "records[].readings[].samples",
    "checks[].exercise",
    "checks[].passed",
    "checks[].tries",
}


def full_record() -> Record:
    """A record in which every field holds something."""
    record = example_record()
    return replace(
        record,
        run=replace(record.run, notebook="homework.ipynb", engine="0"),
        cell=replace(record.cell, id="ab12", execution_count=3),
        device=DeviceUse(
            {"*": "gpu:0"},
            (RanOn("torch", "gpu:0", "cuda", "NVIDIA H200", 12, 1.0, "why not", "counted"),),
            "why not known",
            {"jax": "cpu:0"},
        ),
        readings=(
            *record.readings,
            Reading("energy", 3.5, "J", "device", "NVML", 9, detail="NVML energy counter of gpu:0"),
        ),
        logs=(LogLine("a line", "id", "harmless", "it", "do", {"path": "x"}, 1, "stderr", "12:00", False),),
        ops=(OpStat("MatMul", "MatMul", "gpu:0", 1, 0.1, 0.1, "profiler", "device", 1.0, "[2,2]", 8, 1.0),),
        facts={"batch": Fact("32", "fit")},
        versions={"torch": "2.13.0+cu130", "python": "3.12.1"},
        notes=("a note",),
    )


def report_of(
    records: Iterable[Record], checks: Iterable[SharedCheck], lesson: str | None, sent_at: float
) -> report.Report:
    """A report of these records, but those of which nothing leaves."""
    return shared_fields.report_with(
        filter(None, map(shared_fields.record_of, records)), checks, lesson, sent_at
    )


def sent(record: Record) -> dict[str, Any]:
    """The one record as it arrives at the other side."""
    made = report_of([record], [], None, NOW)
    return report.to_json(report.from_bytes(report.to_bytes(made)))["records"][0]


def an_example() -> report.Report:
    checks = [SharedCheck("convolve", True, 2)]
    return report_of([example_record(), full_record_as(2)], checks, "07_a_cnn", NOW)


def full_record_as(number: int) -> Record:
    record = full_record()
    return replace(record, cell=replace(record.cell, sequence=number))


def fields_of(data: object, where: str = "") -> Iterator[str]:
    if isinstance(data, dict):
        for name, value in data.items():
            yield from fields_of(value, f"{where}.{name}" if where else name)
    elif isinstance(data, list):
        for value in data:
            yield from fields_of(value, f"{where}[]")
    else:
        yield where


def test_a_report_reads_back_as_it_was_sent():
    made = an_example()
    assert report.from_bytes(report.to_bytes(made)) == made


def test_the_fields_that_leave_are_exactly_the_documented_ones():
    assert set(fields_of(report.to_json(an_example()))) == DOCUMENTED


def test_a_record_leaves_with_its_place_its_outcome_and_the_figures_that_are_shared():
    told = sent(full_record())
    readings = told.pop("readings")
    assert told == {
        "id": f"{'0' * 32}-1",
        "run": "0" * 32,
        "number": 1,
        "execution_count": 3,
        "started_at": 1767225600.0,
        "outcome": "ok",
        "framework": "torch",
        "framework_version": "2.13.0",
        "device": "cuda",
    }
    assert readings[0] | {"source": "clock"} == {
        "quantity": "wall_time",
        "value": 0.5,
        "unit": "s",
        "scope": "cell",
        "source": "clock",
        "samples": 1,
    }
    assert [one["quantity"] for one in readings] == [
        "wall_time",
        "device_time",
        "peak_memory_process",
        "peak_memory_allocator",
        "peak_memory_device",
        "energy",
        "energy",
    ]
    assert readings[-1]["source"] == "NVML"


def test_what_was_not_measured_leaves_without_its_reason():
    record = replace(example_record(), readings=(missing("energy", "/sys/class is locked for anna"),))
    assert sent(record)["readings"] == [
        {"quantity": "energy", "value": None, "unit": "J", "scope": "cell", "source": "none", "samples": 0}
    ]


def test_a_time_that_a_profiler_made_longer_is_not_sent_as_a_timing():
    record = replace(example_record(), mode="profiled")
    wall, *others = sent(record)["readings"]
    assert (wall["value"], wall["samples"]) == (None, 0)
    assert [one["value"] for one in others if one["quantity"] == "peak_memory_process"] == [512 * 1024**2]


def test_where_no_place_is_known_no_framework_and_no_device_is_named():
    for ran_on in (None, ()):
        record = replace(example_record(), device=DeviceUse({"*": "cpu:0"}, ran_on))
        told = sent(record)
        assert (told["framework"], told["framework_version"], told["device"]) == (None, None, None)


def test_the_place_is_the_one_where_most_operations_ran():
    few = RanOn("tensorflow", "cpu:0", "cpu", None, 3, 0.1)
    many = RanOn("tensorflow", "gpu:0", "cuda", None, 27, 0.9)
    record = replace(example_record(), device=DeviceUse({}, (few, many)))
    assert sent(record)["device"] == "cuda"


@pytest.mark.parametrize(
    ("told", "leaves"),
    [
        ("2.19.1", "2.19.1"),
        ("2.13.0+cpu", "2.13.0"),
        ("2.20.0.dev20250101", "2.20.0"),
        ("20250101", None),
        ("anna-2.19", None),
        ("", None),
    ],
)
def test_of_a_version_the_digits_and_dots_leave(told: str, leaves: str | None):
    record = replace(example_record(), versions={"tensorflow": told})
    assert sent(record)["framework_version"] == leaves


# ---- what never leaves

SECRETS = ("S3CRET", "/home/anna/thesis.py", "model.fit(annas_data)", "E0000 failed on host anna-laptop")


def planted(value: Any, secret: Callable[[str], str], where: str = "") -> Iterator[tuple[str, Any]]:
    """The value again and again, each time with one of all the texts in it replaced."""
    if isinstance(value, str):
        yield where, secret(value)
    elif isinstance(value, Struct):
        for name in value.__struct_fields__:
            for place, changed in planted(getattr(value, name), secret, f"{where}.{name}"):
                yield place, replace(value, **{name: changed})
    elif isinstance(value, tuple):
        for at, one in enumerate(value):
            for place, changed in planted(one, secret, f"{where}[{at}]"):
                yield place, (*value[:at], changed, *value[at + 1 :])
    elif isinstance(value, Mapping):
        for key, one in value.items():
            others = {name: other for name, other in value.items() if name != key}
            yield f"{where}.key", {secret(key): one, **others}
            for place, changed in planted(one, secret, f"{where}.{key}"):
                yield place, {**others, key: changed}


def everywhere(value: Any, secret: Callable[[str], str]) -> Any:
    """The value with every text in it replaced, but what a record needs to leave at all."""
    if isinstance(value, str):
        return secret(value)
    if isinstance(value, Struct):
        kept = {"started_at", "outcome", "mode", "id" if hasattr(value, "host_digest") else ""}
        return replace(
            value,
            **{
                name: everywhere(getattr(value, name), secret)
                for name in value.__struct_fields__
                if name not in kept
            },
        )
    if isinstance(value, tuple):
        return tuple(everywhere(one, secret) for one in value)
    if isinstance(value, Mapping):
        return {secret(key): everywhere(one, secret) for key, one in value.items()}
    return value


#: Ways to hide a secret in a text: in its place, and beside what is right.
WAYS: Mapping[str, Callable[[str, str], str]] = {
    "alone": lambda secret, text: secret,
    "before": lambda secret, text: secret + text,
    "after": lambda secret, text: text + secret,
    "after a line's end": lambda secret, text: f"{text}\n{secret}",
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("secret", SECRETS)
def test_no_text_of_a_record_leaves_wherever_it_stands(secret: str, way: str):
    places = set()
    for place, record in planted(full_record(), lambda text: WAYS[way](secret, text)):
        body = report.to_bytes(report_of([record], [], None, NOW)).decode()
        assert secret not in body, place
        assert json.dumps(secret)[1:-1] not in body, place
        if '"records":[]' in body:
            places.add(place)
    # A record with any other secret leaves, without it: were all held back, this test would show nothing.
    assert places == {".run.id", ".started_at", ".outcome"}


@pytest.mark.parametrize("secret", SECRETS)
def test_a_record_full_of_secrets_leaves_with_none(secret: str):
    record = everywhere(full_record(), lambda text: secret)
    made = report_of([record], [], None, NOW)
    assert len(made.records) == 1
    assert secret not in report.to_bytes(made).decode()
    assert json.dumps(secret)[1:-1] not in report.to_bytes(made).decode()


def test_every_text_field_of_a_record_was_planted_once():
    places = {place for place, _ in planted(full_record(), lambda text: "x")}
    texts = {
        ".run.notebook",
        ".run.host_digest",
        ".cell.name",
        ".cell.source_digest",
        ".device.ran_on[0].native_name",
        ".device.only.key",
        ".logs[0].text",
        ".logs[0].fields.path",
        ".ops[0].name",
        ".facts.batch.value",
        ".versions.torch",
        ".notes[0]",
        ".readings[2].why_missing",
    }
    assert texts <= places


def test_nothing_but_a_packaged_lesson_and_a_known_exercise_leaves():
    with pytest.raises(RecordError, match="lesson should be one of"):
        report_of([], [], "annas_homework", NOW)
    with pytest.raises(RecordError, match="exercise should be one of"):
        report_of([], [SharedCheck("annas_function", True, 1)], None, NOW)


def test_a_report_of_an_older_version_has_a_former_lesson_and_an_exercise_that_is_gone():
    check = SharedCheck("faults", True, 1)
    assert report_of([], [check], "15_is_my_machine_set_up", NOW).lesson == "15_is_my_machine_set_up"


def test_a_former_lesson_has_become_one_of_today_and_a_former_exercise_is_none():
    assert set(FORMER.values()) <= set(LESSONS)
    assert not set(FORMER) & set(LESSONS)
    assert not set(FORMER_EXERCISES) & set(report.EXERCISES)


# ---- the closed lists are those of the package


@pytest.mark.needs("numpy")
def test_the_lessons_are_the_packaged_ones_with_their_exercises():
    notebooks = PACKAGE.parent / "notebooks"
    assert list(LESSONS) == [one.stem for one in tracked(notebooks, "*.ipynb")]
    for module in exercises.modules():
        number = module.removeprefix("lesson_")
        names = next(names for lesson, names in LESSONS.items() if lesson.startswith(number))
        assert names == tuple(one.name for one in exercises.exercises_of(module))
    assert set(report.EXERCISES) == set(exercises.exercises())


def test_the_frameworks_are_those_that_the_package_knows():
    assert set(report.FRAMEWORKS) == set(registry.OWN)


# ---- reading strictly


def changed(path: str, value: object) -> bytes:
    """The example with one field set; a path such as `records.0.number`."""
    data = report.to_json(an_example())
    place: Any = data
    *way, last = path.split(".")
    for step in way:
        place = place[int(step) if step.isdecimal() else step]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return json.dumps(data).encode()


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("schema", 1, "schema 2, found 1: .* should have the same version"),
        ("schema", 2.0, "whole number"),
        ("lesson", "15_my_own", "lesson should be one of"),
        ("lesson", ["07_a_cnn"], "lesson should be a text or null"),
        ("sent_at", "now", "sent_at should be a number"),
        ("sent_at", -1, "sent_at should be a number >= 0"),
        ("sent_at", True, "sent_at should be a number"),
        ("records", {}, "records should be a list"),
        ("records", [7], r"records\[0\] should be an object"),
        ("checks", None, "checks should be a list"),
        ("records.0.code", "import os", "'code', which is no field"),
        ("records.0.outcome", ..., "lacks 'outcome'"),
        ("records.0.outcome", "<script>", "outcome should be one of error, interrupted, ok"),
        ("records.0.run", "A" * 32, "run should be 32 hexadecimal digits"),
        ("records.0.id", "0" * 32 + "-2", "id should be its run, a hyphen and its number"),
        ("records.0.id", "0" * 32 + "-1\n", "a hyphen and its number"),
        ("records.0.number", 0, "whole number >= 1"),
        ("records.0.number", 1.0, "whole number"),
        ("records.0.execution_count", 0, "whole number >= 1"),
        ("records.0.execution_count", "7", "execution_count should be a whole number or null"),
        ("records.0.number", 10**300, "number of at most 64 bits"),
        ("records.0.framework", "caffe", "framework should be one of"),
        ("records.0.framework_version", "2.19.1\n", "digits and dots"),
        ("records.0.framework_version", "2..1", "digits and dots"),
        ("records.0.framework", None, "a version of no framework"),
        ("records.0.device", "H200", "device should be one of"),
        ("records.0.readings.0.quantity", "cpu_time", "quantity should be one of"),
        ("records.0.readings.0.unit", "bytes", "unit should be s for wall_time"),
        ("records.0.readings.0.value", float("nan"), "should be a number, found nan"),
        ("records.0.readings.0.value", float("inf"), "should be a number, found inf"),
        ("records.0.readings.0.value", -0.5, "should be a number.* >= 0"),
        ("records.0.readings.0.source", "a file", "source should be one of"),
        ("checks.0.passed", 1, "passed should be true or false"),
        ("checks.0.tries", -1, "tries should be a whole number"),
    ],
)
def test_a_report_with_a_wrong_field_is_refused_in_a_sentence(path: str, value: object, said: str):
    with pytest.raises(RecordError, match=said) as refused:
        report.from_bytes(changed(path, value))
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>", "JSON in UTF-8"),
        (b"\xff\xfe", "JSON in UTF-8"),
        (b"", "JSON in UTF-8"),
        (b"[]", "should be an object"),
        (b"[" * 100_000, "JSON in UTF-8"),
        (b"9" * 5_000, "JSON in UTF-8"),
        (b'{"schema": 1, "schema": 1}', "appears twice"),
        (b" " * (report.MAX_BYTES + 1), "at most 256,000 bytes, found 256,001"),
    ],
    ids=["html", "no UTF-8", "nothing", "a list", "nested", "a long number", "twice", "too large"],
)
def test_what_is_no_report_is_refused_in_a_sentence(body: bytes, said: str):
    with pytest.raises(RecordError, match=said) as refused:
        report.from_bytes(body)
    assert len(str(refused.value)) < 200


def test_a_report_of_more_than_its_bounds_is_refused():
    records = [example_record(number) for number in range(1, report.MAX_RECORDS + 2)]
    with pytest.raises(RecordError, match="records should be a list of length <= 100, found 101"):
        report_of(records, [], None, NOW)
    with pytest.raises(RecordError, match="twice"):
        report_of(records[:1] * 2, [], None, NOW)
    with pytest.raises(RecordError, match="twice"):
        report_of([], [SharedCheck("convolve", True, 1)] * 2, None, NOW)


def test_of_a_machine_with_very_many_gpus_the_first_readings_leave():
    many = tuple(Reading("energy", 1.0, "J", "device", "NVML", 2) for _ in range(report.MAX_READINGS + 1))
    assert len(sent(replace(example_record(), readings=many))["readings"]) == report.MAX_READINGS
