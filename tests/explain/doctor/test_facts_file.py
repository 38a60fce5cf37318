"""Facts go to a file and come back as they were; what is no facts file is refused in one sentence."""

import json
import os
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.facts import Facts, GpuFact, MachineFacts, Package
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.record.errors import NewerSchemaError, RecordError
from jupyter_mlgpu.record.sentence import say


def test_facts_are_the_same_after_a_file(healthy: Facts, tmp_path: Path):
    reading.save(tmp_path / "facts.json", healthy)
    assert reading.load(tmp_path / "facts.json") == healthy


def test_facts_of_which_nothing_is_known_are_the_same_after_a_file():
    assert reading.from_json(json.loads(json.dumps(reading.to_json(Facts())))) == Facts()


def test_unknown_none_and_not_asked_stay_apart():
    facts = Facts(
        machine=MachineFacts(macos=None, cores=Unknown(say("It was not told."))),
        frameworks=Unknown(say("Checked only with --deep."), asked=False),
        packages={"numpy": Package("2.1.3", tags=Unknown(say("There is no {file} file.", file="WHEEL")))},
    )
    data = reading.to_json(facts)
    assert data["machine"]["macos"] is None
    assert data["machine"]["cores"] == {"unknown": "It was not told."}
    assert data["frameworks"] == {"unknown": "Checked only with --deep.", "asked": False}
    read = reading.from_json(data)
    assert read == facts
    assert read.packages["numpy"].tags.reason.template == "There is no {file} file."


def test_a_field_that_nobody_knows_is_ignored_and_one_that_is_absent_is_unknown():
    facts = reading.from_json({"schema": 1, "machine": {"cores": 2, "colour": "grey"}, "weather": []})
    assert facts.machine.cores == 2
    assert facts.machine.system == Unknown(say("These facts do not include it."))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nonsense", "holds no JSON"),
        ("\x00\xff", "holds no JSON"),
        ("[" * 100_000, "holds no JSON"),
        ("[1]", "the facts file should be an object"),
        ("{}", "the facts file lacks 'schema'"),
        ('{"schema": true}', "schema should be a whole number, found True"),
        ('{"schema": 0}', "schema should be a whole number >= 1, found 0"),
        ('{"schema": 1, "machine": 3}', "the facts.machine should be an object"),
        (
            '{"schema": 1, "machine": {"cores": "two"}}',
            "the facts.machine.cores should be a whole number, found 'two'",
        ),
        (
            '{"schema": 1, "machine": {"cores": null}}',
            "the facts.machine.cores should be a whole number, found None",
        ),
        (
            '{"schema": 1, "machine": {"cores": true}}',
            "the facts.machine.cores should be a whole number, found True",
        ),
        ('{"schema": 1, "machine": {"cpu_limit": NaN}}', "should be a number, found nan"),
        ('{"schema": 1, "machine": {"memory": 1' + "0" * 400 + "}}", "at most 64 bits, found a larger one"),
        ('{"schema": 1, "machine": {"cpu_limit": 1' + "0" * 400 + "}}", "at most 64 bits, found a larger"),
        ('{"schema": 1, "packages": {"numpy": {}}}', "the facts.packages.numpy lacks 'version'"),
        (
            '{"schema": 1, "machine": {"cores": {"unknown": {"template": "{why}", "fields": 3}}}}',
            "the facts.machine.cores should be a sentence: the fields of a sentence are a table",
        ),
        (
            '{"schema": 1, "machine": {"cores": {"unknown": {"template": "a\\u001bb"}}}}',
            "the facts.machine.cores should be one line without control characters",
        ),
        ('{"schema": 1, "gpus": {"found": {}}}', "the facts.gpus.found should be a list"),
        (
            '{"schema": 1, "gathered_by": "x y"}',
            "the facts.gathered_by should be a version, such as 2.19.1, found 'x y'",
        ),
        (json.dumps({"schema": 1, "machine": {"system": "x" * 5_000}}), "should be a text of length <= 4000"),
        (json.dumps({"schema": 1, "notebooks": [{"name": "a"}] * 2_001}), "a list of at most 2,000"),
    ],
)
def test_what_is_no_facts_file_is_refused_in_one_sentence(text: str, said: str, tmp_path: Path):
    file = tmp_path / "facts.json"
    file.write_text(text, encoding="latin-1")
    with pytest.raises(RecordError) as refused:
        reading.load(file)
    sentence = str(refused.value)
    assert said in sentence
    assert str(file) in sentence
    assert "--save-facts" in sentence
    assert "\n" not in sentence
    assert len(sentence) < 400


def test_facts_of_a_later_version_say_so(tmp_path: Path):
    (tmp_path / "facts.json").write_text('{"schema": 2}')
    with pytest.raises(NewerSchemaError, match="has schema 2, this jupyter_mlgpu reads schema 1"):
        reading.load(tmp_path / "facts.json")


def test_a_file_that_is_far_too_large_is_not_read_whole(tmp_path: Path):
    (tmp_path / "facts.json").write_bytes(b" " * (reading.MOST_BYTES + 1))
    with pytest.raises(RecordError, match="more than 4 MB"):
        reading.load(tmp_path / "facts.json")


def test_a_pipe_that_nobody_writes_to_is_refused_at_once(tmp_path: Path):
    os.mkfifo(tmp_path / "facts.json")
    with pytest.raises(RecordError, match="it is a pipe"):
        reading.load(tmp_path / "facts.json")


def test_a_file_that_is_not_there_is_named(tmp_path: Path):
    with pytest.raises(RecordError, match=r"none\.json cannot be read"):
        reading.load(tmp_path / "none.json")


def test_a_list_of_parts_comes_back_as_parts():
    facts = reading.from_json({"schema": 1, "gpus": {"found": [{"vendor": "nvidia", "memory": None}]}})
    assert facts.gpus.found == (GpuFact(vendor="nvidia", memory=None),)
