"""Runs all checks on one machine's facts, and sorts the results.

A check that crashes does not affect the others: the crash is its result.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from jupyter_mlgpu.explain.doctor import checks
from jupyter_mlgpu.explain.doctor.check import CONFIDENCES, Check, Confidence, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.explain.doctor.maybe import NotKnownError
from jupyter_mlgpu.explain.doctor.remedies import Remedy
from jupyter_mlgpu.explain.doctor.version_pairs import PAIRS
from jupyter_mlgpu.record.redact import beginning
from jupyter_mlgpu.record.sentence import Sentence, say, say_count

#: Version of the format of `to_json`; increased whenever a field changes its meaning or is removed.
SCHEMA = 2

#: A check's result: a problem ("finding"), an error in the check itself ("crashed"), no problem ("ok"), not
#: applicable or not known here ("skipped"), or based on facts gathered only on request ("not asked").
Status = Literal["finding", "crashed", "ok", "skipped", "not asked"]
STATUSES: tuple[Status, ...] = get_args(Status)

#: The remedy of a crashed check.
_REPORT = "# A fault of jupyter_mlgpu, not of this machine: please report it with the line above."


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check.

    `evidence` is what the result is based on, or why the check was skipped, crashed or not asked. `remedy` is
    None unless the status is "finding" or "crashed", and `confidence` is None unless it is "finding".
    """

    id: str
    status: Status
    title: Sentence
    evidence: Sentence
    remedy: str | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The results of all checks.

    Findings come first, causes before consequences. The others follow in the order of `STATUSES`, and with
    the same status by id.
    """

    results: tuple[CheckResult, ...]

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """The problems, in the order in which they should be fixed."""
        return self.of("finding")

    def of(self, status: Status) -> tuple[CheckResult, ...]:
        """Return the results with this status, in order."""
        return tuple(result for result in self.results if result.status == status)

    @property
    def healthy(self) -> bool:
        """True if there is no finding and no check crashed."""
        return not self.findings and not self.of("crashed")

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis in the format of `doctor.schema.json`."""
        results = [
            {
                "id": one.id,
                "status": one.status,
                "title": one.title.to_json(),
                "evidence": one.evidence.to_json(),
                "remedy": one.remedy,
                "confidence": one.confidence,
            }
            for one in self.results
        ]
        return {"schema": SCHEMA, "checks": results}


def find_checks() -> list[Check | CheckResult]:
    """Return a check for every module of `checks/` and every row of `version_pairs`, sorted by id.

    A module that cannot be imported is returned as the result of a crashed check.
    """
    modules = [_load(module.name) for module in pkgutil.iter_modules(checks.__path__)]
    pairs = [Check(one.id, one.title, one.judge, one.about) for one in PAIRS]
    return sorted([*modules, *pairs], key=lambda one: one.id)


def diagnose(facts: Facts, selected: Iterable[Check | CheckResult] | None = None) -> Diagnosis:
    """Run all checks on the facts, or only those in `selected`."""
    judged = [_judge(check, facts) for check in (find_checks() if selected is None else selected)]
    return Diagnosis(tuple(result for _, result in sorted(judged, key=lambda pair: pair[0])))


_Rank = tuple[int, int, int, str]


def _load(name: str) -> Check | CheckResult:
    try:
        module = importlib.import_module(f"{checks.__name__}.{name}")
        about = (inspect.getdoc(module) or "").partition("\n\n")[0]
        return Check(name.replace("_", "-"), module.TITLE, module.judge, about)
    except Exception as error:
        return _crashed(name.replace("_", "-"), say("The check {name}", name=name), error)


def _judge(check: Check | CheckResult, facts: Facts) -> tuple[_Rank, CheckResult]:
    if isinstance(check, CheckResult):
        return _rank(check), check
    try:
        return _result(check, check.judge(facts))
    except NotKnownError as error:
        status: Status = "skipped" if error.unknown.asked else "not asked"
        result = CheckResult(check.id, status, check.title, error.unknown.reason)
    except Exception as error:
        result = _crashed(check.id, check.title, error)
    return _rank(result), result


def _result(check: Check, verdict: Verdict) -> tuple[_Rank, CheckResult]:
    match verdict:
        case Finding(title, evidence, remedy, confidence, cause):
            if not isinstance(remedy, Remedy):  # a plain string might contain a value that is not quoted
                raise TypeError(f"the remedy is {remedy!r:.60}")
            result = CheckResult(check.id, "finding", title, evidence, str(remedy), confidence)
            return (0, int(cause), CONFIDENCES.index(confidence), check.id), result
        case Fine(evidence):
            result = CheckResult(check.id, "ok", check.title, evidence)
        case Skipped(reason):
            result = CheckResult(check.id, "skipped", check.title, reason)
        case _:
            raise TypeError(f"judge() gave {verdict!r:.60}")
    return _rank(result), result


def _rank(result: CheckResult) -> _Rank:
    return STATUSES.index(result.status), 0, 0, result.id


def _crashed(name: str, title: Sentence, error: Exception) -> CheckResult:
    message = beginning(f"{type(error).__name__}: {error}", 300)
    return CheckResult(name, "crashed", title, say("This check crashed ({why}).", why=message), _REPORT)


def head(diagnosis: Diagnosis) -> Sentence:
    """Return a sentence with the number of findings, and of the checks that gave a finding or "ok"."""
    count = len(diagnosis.findings)
    judged = count + len(diagnosis.of("ok"))
    crashed = len(diagnosis.of("crashed"))
    if count == 0 and crashed:
        return say_count(
            "Nothing is wrong here, as far as {count} check can tell; {crashed} crashed.",
            "Nothing is wrong here, as far as {count} checks can tell; {crashed} crashed.",
            judged,
            crashed=crashed,
        )
    if count == 0:
        return say_count(
            "Nothing is wrong here, as far as {count} check can tell.",
            "Nothing is wrong here, as far as {count} checks can tell.",
            judged,
        )
    if judged == 1:
        return say("The check found a problem.")
    return say_count(
        "One of {judged} checks found a problem.",
        "{count} of {judged} checks found a problem: start with the first one.",
        count,
        judged=judged,
    )
