"""Checks are run one by one: what is unknown is skipped, what crashes is contained, findings come first."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import schemas

import jupyter_mlgpu.explain.doctor
from jupyter_mlgpu.explain.doctor import checks, reading
from jupyter_mlgpu.explain.doctor.check import Cause, Check, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.explain.doctor.diagnose import diagnose, find_checks
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.explain.doctor.maybe import Unknown, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.errors import RecordError
from jupyter_mlgpu.record.sentence import say

SCHEMA = json.loads((Path(jupyter_mlgpu.explain.doctor.__file__).parent / "doctor.schema.json").read_text())


def check(name: str, verdict: Verdict | Exception) -> Check:
    def judge(facts: Facts) -> Verdict:
        if isinstance(verdict, Exception):
            raise verdict
        return verdict

    return Check(name, say("{name} is well", name=name), judge)


def finding(cause: Cause, confidence="sure") -> Finding:
    return Finding(say("It is wrong."), say("It was seen."), as_written("mend it"), confidence, cause)


def test_a_healthy_machine_has_no_findings(healthy: Facts):
    diagnosis = diagnose(healthy)
    assert diagnosis.findings == ()
    assert diagnosis.of("crashed") == ()
    assert diagnosis.healthy


def test_a_plugin_beside_a_newer_tensorflow_is_found(machine: Callable[..., Facts]):
    (found,) = diagnose(machine("mac", {"packages/tensorflow/version": "2.20.0"})).findings
    assert found.id == "metal-plugin-version"
    assert found.confidence == "sure"
    assert "1.2.0" in found.evidence
    assert "2.20.0" in found.evidence


COMMUNITYS = {
    "packages/tensorflow-metal-plugin": {"version": "0.4.1"},
    "packages/tensorflow-metal": "<delete>",
}


@pytest.mark.parametrize(("tensorflow", "protobuf"), [("2.20.0", "5.29.6"), ("2.21.0", "6.33.0")])
def test_the_communitys_plugin_is_known_and_nothing_is_wrong_with_it(
    machine: Callable[..., Facts], tensorflow, protobuf
):
    versions = {"packages/tensorflow/version": tensorflow, "packages/protobuf/version": protobuf}
    diagnosis = diagnose(machine("mac", {**versions, **COMMUNITYS}))
    assert diagnosis.findings == ()
    (told,) = [one for one in diagnosis.results if one.id == "metal-plugin-missing"]
    assert told.evidence == "The community's Metal plug-in tensorflow-metal-plugin 0.4.1 is installed."


def test_of_two_plugins_the_one_that_cannot_load_is_named(machine: Callable[..., Facts]):
    both = {"packages/tensorflow-metal-plugin": {"version": "0.4.1"}, "packages/tensorflow/version": "2.20.0"}
    (found,) = diagnose(machine("mac", both)).findings
    assert found.remedy == "pip uninstall -y tensorflow-metal"
    assert "the community's" in found.title


def test_two_tensorflows_in_two_folders_are_not_said_to_be_in_one(machine: Callable[..., Facts]):
    other = {"version": "2.19.1", "place": "user"}
    (found,) = diagnose(machine("cpu", {"packages/tensorflow-cpu": other})).findings
    assert found.evidence == (
        "Installed in 2 folders: tensorflow 2.19.1 (environment), tensorflow-cpu 2.19.1 (user)."
    )


def test_a_crash_in_a_check_is_its_result_and_the_others_go_on():
    diagnosis = diagnose(
        Facts(), [check("a", RuntimeError("boom in /home/ada/x")), check("b", Fine(say("It is fine.")))]
    )
    crashed, fine = diagnosis.results
    assert (crashed.id, crashed.status, fine.status) == ("a", "crashed", "ok")
    assert "RuntimeError: boom in ~/x" in crashed.evidence
    assert crashed.remedy
    assert not diagnosis.healthy


def test_what_is_no_verdict_is_a_crash():
    (result,) = diagnose(Facts(), [check("a", None)]).results  # type: ignore[arg-type]
    assert result.status == "crashed"
    assert "TypeError" in result.evidence


def test_a_check_that_does_not_import_is_a_crash(tmp_path, monkeypatch):
    (tmp_path / "not_python.py").write_text("this is no Python")
    monkeypatch.setattr(checks, "__path__", [str(tmp_path)])
    (result,) = diagnose(Facts()).of("crashed")
    assert (result.id, result.status) == ("not-python", "crashed")
    assert "SyntaxError" in result.evidence


def test_an_unknown_fact_skips_a_check_with_its_reason():
    facts = Facts(packages=Unknown(say("Nobody could read them.")))
    result = diagnose(
        facts, [Check("a", say("A"), lambda facts: Fine(say(str(known(facts.packages)))))]
    ).results[0]
    assert (result.status, result.evidence) == ("skipped", "Nobody could read them.")


def test_what_was_not_looked_at_on_purpose_is_not_asked():
    facts = Facts(frameworks=Unknown(say("Checked only with --deep."), asked=False))
    result = diagnose(
        facts, [Check("a", say("A"), lambda facts: Fine(say(str(known(facts.frameworks)))))]
    ).results[0]
    assert (result.status, result.evidence) == ("not asked", "Checked only with --deep.")


def test_a_fact_that_only_helps_has_a_substitute():
    assert known_or(Unknown(say("why")), 3) == 3
    assert known_or(4, 3) == 4


def test_findings_come_first_causes_before_what_follows_the_surest_before_the_others():
    diagnosis = diagnose(
        Facts(),
        [
            check("a-fine", Fine(say("It is fine."))),
            check("b-framework", finding(Cause.FRAMEWORKS)),
            check("c-crash", RuntimeError()),
            check("d-packages", finding(Cause.PACKAGES, "possible")),
            check("e-packages", finding(Cause.PACKAGES, "sure")),
            check("f-skipped", Skipped(say("It has no place here."))),
            check("g-machine", finding(Cause.MACHINE, "possible")),
        ],
    )
    assert [one.id for one in diagnosis.results] == [
        "g-machine",
        "e-packages",
        "d-packages",
        "b-framework",
        "c-crash",
        "a-fine",
        "f-skipped",
    ]


@pytest.mark.parametrize("name", ["mac", "cuda", "cpu"])
def test_json_is_as_its_schema_says(name: str, machine: Callable[..., Facts]):
    changes = {"packages/tensorflow/version": "2.20.0"} if name == "mac" else {}
    told = [*find_checks(), check("z-crash", RuntimeError("boom"))]
    data = json.loads(json.dumps(diagnose(machine(name, changes), told).to_json()))
    jsonschema.validate(data, SCHEMA)
    assert schemas.doctor_schema() == SCHEMA, "run `make schemas`"
    assert data["schema"] == 2
    statuses = [one["status"] for one in data["checks"]]
    assert statuses == sorted(statuses, key=["finding", "crashed", "ok", "skipped", "not asked"].index)
    assert "crashed" in statuses


def test_a_remedy_that_is_a_text_which_nobody_quoted_is_never_shown():
    text = Finding(say("It is wrong."), say("It was seen."), "mend $(it)", "sure", Cause.MACHINE)  # type: ignore[arg-type]
    (crashed,) = diagnose(Facts(), [check("a", text)]).results
    assert crashed.status == "crashed"
    assert "mend" not in str(crashed.remedy)


def test_the_schema_refuses_a_finding_without_a_remedy():
    data = diagnose(Facts(), [check("a", finding(Cause.MACHINE))]).to_json()
    data["checks"][0]["remedy"] = None
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, SCHEMA)


def test_whichever_fact_is_unknown_no_check_crashes_and_nothing_is_found(healthy: Facts):
    found = set()
    for way, data in without_one_fact(reading.to_json(healthy)):
        diagnosis = diagnose(reading.from_json(data))
        found |= {(way, one.id, one.evidence) for one in (*diagnosis.findings, *diagnosis.of("crashed"))}
    assert found == set()


def without_one_fact(data: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The facts again and again, each time with another one unknown, where it may be."""
    unknown = {"unknown": "It was not told."}

    def each(place: Any, way: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for key in list(place) if isinstance(place, dict) else range(len(place)):
            value = place[key]
            place[key] = unknown
            with suppress(RecordError):  # a name must be told
                reading.from_json(data)
                yield f"{way}/{key}", data
            place[key] = value
            if isinstance(value, dict | list) and "unknown" not in value:
                yield from each(value, f"{way}/{key}")

    yield from each(data, "")


def test_every_check_has_an_id_of_its_own_that_is_its_modules_name():
    found = find_checks()
    assert all(isinstance(one, Check) for one in found), found
    ids = [one.id for one in found]
    assert len(ids) == len(set(ids)) >= 2
