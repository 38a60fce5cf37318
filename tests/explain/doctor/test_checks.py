"""What the doctor says of reported machines, each a healthy one with only the reported fact changed."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tracked import tracked

from jupyter_mlgpu.explain.doctor.check import Check
from jupyter_mlgpu.explain.doctor.diagnose import diagnose, find_checks
from jupyter_mlgpu.explain.doctor.facts import Facts, Package
from jupyter_mlgpu.explain.doctor.version_pairs import PAIRS as VERSIONS
from jupyter_mlgpu.explain.doctor.version_pairs import VersionPair
from jupyter_mlgpu.record.redact import redact
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.doctor import page

BROKEN = Path(__file__).parent / "broken"
CASES: dict[str, dict[str, Any]] = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in tracked(BROKEN, "*.json")
}
#: A line for a shell, or a sentence that names one for another machine's.
COMMAND = re.compile(r"(# .+: )?(\"\$\(|~/|/)?[a-z][\w./-]*|[A-Z_]+=\S* [a-z]")
every_case = pytest.mark.parametrize("name", CASES)


@every_case
def test_the_reported_fault_is_found_first_and_every_other_check_stays_silent(
    name: str, machine: Callable[..., Facts]
):
    case = CASES[name]
    diagnosis = diagnose(machine(case["machine"], case["changes"]))
    assert [one.id for one in diagnosis.findings] == [case["expect"]]
    assert diagnosis.of("crashed") == ()


@every_case
def test_a_finding_says_what_is_wrong_how_it_is_known_and_what_to_paste(
    name: str, machine: Callable[..., Facts]
):
    case = CASES[name]
    (finding,) = diagnose(machine(case["machine"], case["changes"])).findings
    assert finding.title.endswith(".")
    assert finding.evidence
    assert "None" not in finding.evidence
    lines = (finding.remedy or "").splitlines()
    assert any(COMMAND.match(line) for line in lines)
    assert all(COMMAND.match(line) or line.startswith("# ") for line in lines)


@every_case
@pytest.mark.parametrize("language", page.LANGUAGES)
def test_redaction_takes_nothing_of_the_answer_for_a_secret(
    name: str, language: str, machine: Callable[..., Facts]
):
    case = CASES[name]
    told = page.text(diagnose(machine(case["machine"], case["changes"])), language, all_checks=True)
    assert redact(told) == told


@every_case
def test_a_case_cites_public_threads_and_changes_little(name: str):
    case = CASES[name]
    assert case["reported"]
    assert case["sources"]
    assert case["changes"]
    assert all(
        re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+(/issues/\d+)?", one) for one in case["sources"]
    )
    # A version of Python is told by many packages' tags; all other reports change a few fields.
    assert len(case["changes"]) <= 8


@pytest.mark.parametrize("known", [True, False], ids=["healthy", "nothing is known"])
def test_nothing_is_found_on_a_healthy_machine_and_where_nothing_is_known(healthy: Facts, known: bool):
    diagnosis = diagnose(healthy if known else Facts())
    assert diagnosis.findings == ()
    assert diagnosis.of("crashed") == ()


def test_there_are_25_checks_and_each_finds_some_reported_fault():
    checks = find_checks()
    assert all(isinstance(one, Check) for one in checks)
    assert len(checks) >= 25
    assert {one.id for one in checks} == {case["expect"] for case in CASES.values()}


def test_a_check_is_called_as_its_module_or_its_row_in_the_table_of_versions():
    rows = {pair.id for pair in VERSIONS}
    for one in find_checks():
        assert isinstance(one, Check)
        assert one.id in rows or one.judge.__module__.rsplit(".", 1)[1].replace("_", "-") == one.id
        assert one.about


def test_every_clash_of_the_table_names_versions_that_can_be_found(healthy: Facts):
    everything = replace(
        healthy,
        packages={name: Package("1.0") for pair in VERSIONS for name in named(pair)},
        machine=replace(healthy.machine, macos="15.6"),
        jupyter=replace(healthy.jupyter, labextension="0.1.0"),
    )
    for pair in VERSIONS:
        for clash in pair.clashes:
            assert clash.find_pair(everything).evidence


def named(pair: VersionPair) -> list[str]:
    return [re.split("[<>=!]", one)[0] for clash in pair.clashes for one in (clash.part, clash.other)]


_NO_DRIVER = {"driver-missing", "driver-half-updated", "container-gpu", "gpu-device-denied", "gpu-lost"}
_OF_THE_PLUGIN = {"metal-plugin-version", "metal-macos", "gpu-not-seen"}
#: Where the first fault is there the second is none, follows from it, or cannot be judged yet.
HIDES: dict[str, set[str]] = {
    # Without a GPU that answers no framework sees one.
    **{one: {"gpu-not-seen"} for one in _NO_DRIVER},
    "gpu-hidden": {"gpu-not-seen"},
    "nvml-package": {"gpu-not-seen"},
    "cuda-driver-version": {"gpu-not-seen"},
    # A Metal plug-in that is not there has no version, and one that does not load has no symbols.
    "metal-python": {
        "metal-plugin-missing",
        "metal-plugin-version",
        "metal-macos",
        "gpu-not-seen",
        "framework-library",
    },
    "metal-plugin-missing": {"metal-plugin-version", "metal-macos", "gpu-not-seen"},
    "metal-plugin-version": {"metal-plugin-pair", "framework-library"},
    # Without its plug-in JAX neither takes a GPU's memory nor is expected to list it.
    "jax-cuda-plugin-missing": {"memory-growth", "gpu-not-seen"},
    "torch-cpu-build": {"torch-gpu-generation"},
    # Under Rosetta packages for Intel are the right ones.
    "rosetta-python": {"wheel-architecture"},
    # A container that has a driver outside of it: what the machine itself lacks is told there.
    "container-gpu": {"gpu-not-seen", "driver-missing"},
}
#: Cases that contradict each other, though they change different facts.
EXCLUDE = {
    frozenset(pair)
    for pair in (
        ("hub-without-text", "text-of-another-tensorflow"),
        ("keras-without-tensorflow", "tensorflow-without-cuda"),
        ("ld-path-lost", "older-cudnn-on-the-path"),
        ("ld-path-lost", "other-toolkit-on-the-path"),
        # Without CUDA's libraries no framework is expected to list the GPU.
        ("gpu-not-listed", "ld-path-lost"),
        # What is a machine's missing driver outside is a container without the GPU inside.
        ("no-driver", "small-shared-memory"),
        ("no-driver", "threads-in-a-container"),
    )
}


def conflict(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two cases change the same thing, in different ways."""
    return any(
        (mine == theirs and one[mine] != other[theirs])
        or theirs.startswith(f"{mine}/")
        or mine.startswith(f"{theirs}/")
        for mine, theirs in itertools.product(one, other)
    )


PAIRS = [
    (one, other)
    for one, other in itertools.combinations(CASES, 2)
    if CASES[one]["machine"] == CASES[other]["machine"]
    and CASES[one]["expect"] != CASES[other]["expect"]
    and not conflict(CASES[one]["changes"], CASES[other]["changes"])
    and frozenset((one, other)) not in EXCLUDE
    and CASES[other]["expect"] not in HIDES.get(CASES[one]["expect"], ())
    and CASES[one]["expect"] not in HIDES.get(CASES[other]["expect"], ())
]


@pytest.mark.slow  # some hundreds of pairs; each fault alone is found above
def test_two_faults_of_one_machine_are_both_found(machine: Callable[..., Facts]):
    wrong = {}
    for one, other in PAIRS:
        first, second = CASES[one]["expect"], CASES[other]["expect"]
        found = diagnose(
            machine(CASES[one]["machine"], CASES[one]["changes"] | CASES[other]["changes"])
        ).findings
        if {one.id for one in found} != {first, second}:
            wrong[one, other] = [one.id for one in found]
    assert wrong == {}
    assert len(PAIRS) > 500


CHINESE = re.compile(r"[\u4e00-\u9fff]")


def sentences_in(sentence: Sentence) -> list[Sentence]:
    """The sentence, and those in its fields; of those that only join others, the others."""
    inner = [one for one in sentence.fields.values() if isinstance(one, Sentence)]
    own = [sentence] if re.search(r"[a-z]", re.sub(r"\{[a-z_]+\}", "", sentence.template)) else []
    return own + [part for one in inner for part in sentences_in(one)]


@every_case
def test_a_finding_is_told_in_chinese_sentence_by_sentence(name: str, machine: Callable[..., Facts]):
    case = CASES[name]
    (finding,) = diagnose(machine(case["machine"], case["changes"])).findings
    told = [*sentences_in(finding.title), *sentences_in(finding.evidence)]
    assert [one for one in told if not CHINESE.search(translated(one, "zh"))] == []


def test_what_is_fine_and_what_is_skipped_is_told_in_chinese(healthy: Facts):
    others = [one for one in diagnose(healthy).results if one.status in ("ok", "skipped")]
    told = [part for one in others for part in (*sentences_in(one.title), *sentences_in(one.evidence))]
    assert [one for one in told if not CHINESE.search(translated(one, "zh"))] == []


def facts_of(machine_name: str) -> list[str]:
    """The way to every fact of a machine that may be unknown, and to its lists as a whole."""
    data = json.loads((BROKEN.parent / "machines" / f"{machine_name}.json").read_text(encoding="utf-8"))
    ways = [
        f"{part}/{name}"
        for part in ("machine", "python", "environment", "gpus", "kernel", "jupyter", "storage")
        for name in data[part]
    ]
    ways += [f"packages/{name}/{field}" for name in data["packages"] for field in data["packages"][name]]
    gpus = [f"gpus/found/{n}/{name}" for n, gpu in enumerate(data["gpus"]["found"]) for name in gpu]
    specs = [f"kernel/specs/{n}/{name}" for n, spec in enumerate(data["kernel"]["specs"]) for name in spec]
    ways += ["packages", "builds", "libraries", "notebooks", *gpus, *specs]
    return [way for way in ways if not way.endswith(("/version", "specs/0/name"))]


@pytest.mark.parametrize("name", ["cpu", "cuda", "mac"])
def test_a_fact_that_is_unknown_makes_no_finding_and_no_crash(name: str, machine: Callable[..., Facts]):
    wrong = {}
    for way in facts_of(name):
        diagnosis = diagnose(machine(name, {way: {"unknown": "It was not read."}}))
        if diagnosis.findings or diagnosis.of("crashed"):
            wrong[way] = [one.id for one in (*diagnosis.findings, *diagnosis.of("crashed"))]
    assert wrong == {}
