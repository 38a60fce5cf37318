"""A diagnosis as text and HTML, in English or Chinese, and its remedies as shell commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jupyter_mlgpu.explain.doctor.check import Confidence
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, Diagnosis, head
from jupyter_mlgpu.record.sentence import Sentence, say, say_count
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.markup import Markup, element, one_line

LANGUAGES = ("en", "zh")

_NOT_ASKED = say(
    "The frameworks and the network were not checked: --deep checks them, which takes up to a minute."
)
_FRAMEWORKS_NOT_ASKED = say(
    "The frameworks were not checked: --deep checks them, which takes up to a minute."
)
_NETWORK_NOT_ASKED = say("The network was not checked: --deep checks it.")
_PLAN = say("The doctor's advice, in this order. It has changed nothing: read each line before you run it.")
_KNOWN, _DO = say("How we know:"), say("What to do:")
_SURE: Mapping[Confidence, Sentence] = {
    "sure": say("sure"),
    "likely": say("likely"),
    "possible": say("possible"),
}


@dataclass(frozen=True, slots=True)
class DiagnosisPage:
    """A diagnosis that a notebook can display. `findings` and `to_json()` are the diagnosis's own."""

    diagnosis: Diagnosis
    language: str = "en"
    all_checks: bool = False

    @property
    def findings(self) -> tuple[CheckResult, ...]:
        """The problems that were found, causes first."""
        return self.diagnosis.findings

    def to_json(self) -> dict[str, Any]:
        """Return the data that doctor.schema.json describes."""
        return self.diagnosis.to_json()

    def __repr__(self) -> str:
        return text(self.diagnosis, self.language, all_checks=self.all_checks)

    def _repr_html_(self) -> str:
        return html(self.diagnosis, self.language)


def text(diagnosis: Diagnosis, language: str = "en", *, all_checks: bool = False) -> str:
    """Return the diagnosis for a terminal.

    With `all_checks` it includes the checks that found nothing or could not judge.
    """
    lines = [_said(head(diagnosis), language)]
    for number, one in enumerate(diagnosis.findings, start=1):
        lines += ["", f"{number}. {_said(one.title, language)} ({_sure(one, language)}; {one.id})"]
        lines += [f"   {_said(_KNOWN, language)} {_said(one.evidence, language)}"]
        lines += [f"   {_said(_DO, language)}"]
        lines += [f"       {line}" for line in _remedy(one).splitlines()]
    for title, rows in _rest(diagnosis, language, all_checks):
        lines += ["", title, *(f"   {ids}: {what}" for ids, what in rows)]
    skipped = len(diagnosis.of("skipped"))
    if skipped and not all_checks:
        skipped_note = say_count(
            "{count} check was skipped, mostly because it does not apply here: --all shows why.",
            "{count} checks were skipped, mostly because they do not apply here: --all shows why.",
            skipped,
        )
        lines += ["", _said(skipped_note, language)]
    if (unasked := _not_asked(diagnosis)) is not None:
        lines += ["", _said(unasked, language)]
    return "\n".join(lines)


def html(diagnosis: Diagnosis, language: str = "en") -> str:
    """Return the diagnosis as self-contained HTML. All of its text is escaped."""
    findings = [
        element(
            "li",
            element("b", _shown(one.title, language)),
            " ",
            element("small", f"({_sure(one, language)}; {one.id})"),
            element("div", _said(_KNOWN, language), " ", _shown(one.evidence, language)),
            element("div", _said(_DO, language)),
            element("pre", one_line(_remedy(one)), style="white-space:pre-wrap;overflow-wrap:anywhere"),
        )
        for one in diagnosis.findings
    ]
    rest = []
    for title, rows in _rest(diagnosis, language, all_checks=True):
        lines = [element("li", element("code", ids), ": ", one_line(what)) for ids, what in rows]
        rest.append(element("details", element("summary", title), element("ul", *lines)))
    if (unasked := _not_asked(diagnosis)) is not None:
        rest.append(element("div", element("small", _said(unasked, language))))
    listed = element("ol", *findings) if findings else None
    return str(element("div", element("p", _said(head(diagnosis), language)), listed, *rest))


def plan(diagnosis: Diagnosis, language: str = "en") -> str:
    """Return all remedies in order, as lines for a shell. Explanations are comments."""
    if not diagnosis.findings:
        return f"# {_said(say('There is nothing to repair.'), language)}"
    lines = [f"# {_said(_PLAN, language)}"]
    for number, one in enumerate(diagnosis.findings, start=1):
        title = " ".join(_said(one.title, language).split())
        lines += ["", f"# {number}. {title} ({_sure(one, language)})", _remedy(one)]
    return "\n".join(lines)


def json_text(diagnosis: Diagnosis) -> str:
    """Return the diagnosis as the text of a JSON file."""
    return json.dumps(diagnosis.to_json(), ensure_ascii=False, allow_nan=False, indent=1)


def _not_asked(diagnosis: Diagnosis) -> Sentence | None:
    """Return a sentence about the checks that need --deep, or None.

    Loaded facts may lack only one of the two.
    """
    unasked = {one.id for one in diagnosis.of("not asked")}
    if not unasked:
        return None
    if unasked == {"network"}:
        return _NETWORK_NOT_ASKED
    return _NOT_ASKED if "network" in unasked else _FRAMEWORKS_NOT_ASKED


def _rest(
    diagnosis: Diagnosis, language: str, all_checks: bool
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the sections below the findings: a title, and rows of checks with their results."""
    crashed, skipped, fine = diagnosis.of("crashed"), diagnosis.of("skipped"), diagnosis.of("ok")
    if crashed:
        yield _said(say("Checks that crashed:"), language), _rows(crashed, language)
    if skipped and all_checks:
        yield _said(say("Skipped ({count}):", count=len(skipped)), language), _rows(skipped, language)
    if fine and all_checks:
        yield _said(say("Nothing wrong ({count}):", count=len(fine)), language), _rows(fine, language)


def _rows(results: Sequence[CheckResult], language: str) -> list[tuple[str, str]]:
    """Return one row per reason: on a Linux machine a dozen checks are about Macs."""
    ids: dict[Sentence, list[str]] = {}
    for one in results:
        ids.setdefault(one.evidence, []).append(one.id)
    return [(", ".join(names), _said(reason, language)) for reason, names in ids.items()]


def _sure(result: CheckResult, language: str) -> str:
    return _said(_SURE[result.confidence or "possible"], language)


def _remedy(result: CheckResult) -> str:
    return _visible(result.remedy or "")


def _said(sentence: Sentence, language: str) -> str:
    return _visible(translated(sentence, language))


def _visible(words: str) -> str:
    """Return the text without characters that could move a terminal's cursor.

    Facts may come from a foreign file.
    """
    return "".join(one if one.isprintable() or one == "\n" else " " for one in words)


def _shown(sentence: Sentence, language: str) -> Markup:
    # Without line ends, because a notebook file would store each line of a text on a line of its own.
    return one_line(_said(sentence, language))
