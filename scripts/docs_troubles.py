"""Troubleshooting: every message of the catalogue and every check of the doctor, in English and Chinese.

A message is shown with the first example that was really printed and what the catalogue says of it; a check
with a finding it makes of a reported fault, one of those in tests/explain/doctor/broken.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from docs_markdown import code, fence, page, plain, table, toctree
from tracked import tracked

from constraints import ROOT
from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.check import Check
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, diagnose, find_checks
from jupyter_mlgpu.explain.logs.catalogue import VERDICTS, Catalogue, Definition
from jupyter_mlgpu.explain.logs.stream import messages as messages_of
from jupyter_mlgpu.record.translation import translated

_DOCTOR = ROOT / "tests" / "explain" / "doctor"
_THREAD = re.compile(r"([\w.-]+/[\w.-]+)#(\d+)")

#: Families of messages, by the folder they are in.
FAMILIES: Mapping[str, str] = {
    "cuda": "CUDA",
    "jax": "JAX",
    "macos": "macOS",
    "metal": "Metal",
    "mlcompute": "ML Compute",
    "mlx": "MLX",
    "python": "Python",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
}

#: What stands around the texts, by language.
WORDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    (ROOT / "docs" / "_troubles.toml").read_text(encoding="utf-8")
)


def pages() -> dict[str, str]:
    """The pages of both languages, by their place in the site."""
    found = {}
    for language, folder in (("en", "troubleshooting"), ("zh", "zh/troubleshooting")):
        definitions = by_family()
        found[f"{folder}/messages.md"] = _messages(language, definitions)
        found[f"{folder}/doctor.md"] = doctor(language)
        for family, members in definitions.items():
            found[f"{folder}/messages-{family}.md"] = _family(language, family, members)
    return found


def by_family() -> dict[str, list[Definition]]:
    """The catalogue's definitions by the folder they are in."""
    found: dict[str, list[Definition]] = {}
    for definition in Catalogue.load().definitions.values():
        found.setdefault(definition.path.parent.name, []).append(definition)
    return found


def anchor(kind: str, name: str, language: str) -> str:
    """The name of the place in the site at which a message (`log`) or a check (`check`) is explained."""
    return f"{kind}-{name}" if language == "en" else f"{kind}-{language}-{name}"


def _messages(language: str, definitions: Mapping[str, Sequence[Definition]]) -> str:
    words = WORDS[language]
    rows = [
        (f"[{FAMILIES[family]}](messages-{family}.md)", str(len(members)))
        for family, members in definitions.items()
    ]
    return page(
        f"# {words['title']}",
        words["above"],
        table((words["who"], words["count"]), rows),
        toctree(*(f"messages-{family}" for family in definitions), hidden=True),
    )


def _family(language: str, family: str, members: Sequence[Definition]) -> str:
    words = WORDS[language]
    parts = []
    for verdict in VERDICTS:
        of_it = [one for one in members if one.verdict == verdict]
        if of_it:
            parts += [f"## {words[verdict]}", *(_message(one, language) for one in of_it)]
    # Hundreds of messages stand on a page: beside it, only the verdicts are listed.
    return page("---\ntocdepth: 2\n---", f"# {words['family'].format(family=FAMILIES[family])}", *parts)


def _message(definition: Definition, language: str) -> str:
    words, tables = WORDS[language], definition.tables
    meaning, advice = _explained(definition, language)
    lines = [f"**{words['meaning']}:** {plain(meaning)}", f"**{words['advice']}:** {plain(advice)}"]
    if "versions" in tables:
        lines.append(f"**{words['versions']}:** {plain(tables['versions'])}")
    if tables.get("references"):
        lines.append(f"**{words['references']}:** {'; '.join(map(_source, tables['references']))}")
    return page(
        f"({anchor('log', definition.id, language)})=\n### {definition.id}",
        fence(tables["examples"][0], "none"),
        *lines,
    ).rstrip()


def _explained(definition: Definition, language: str) -> tuple[str, str]:
    """Meaning and advice, filled from the example that is shown; where it is not recognised, unfilled."""
    example = definition.tables["examples"][0].encode()
    for _, known in messages_of([example + b"\n"], Catalogue.load()):
        if known is not None and known.id == definition.id:
            return known.meaning(language), known.advice(language)
    texts = definition.tables[language]
    return tuple(re.sub(r"\{\w+\}", "{*}", texts[name]) for name in ("meaning", "advice"))  # type: ignore[return-value]


def _source(reference: str) -> str:
    """A source as a link, where it is a public thread or an address."""
    if reference.startswith("https://"):
        return f"<{reference}>"
    if thread := _THREAD.fullmatch(reference):
        return f"[{plain(reference)}](https://github.com/{thread[1]}/issues/{thread[2]})"
    return plain(reference)


def doctor(language: str) -> str:
    """Every check of the doctor, by id, with a finding of each."""
    words = WORDS[language]
    parts = [_check(one, language) for one in find_checks() if isinstance(one, Check)]
    return page("---\ntocdepth: 1\n---", f"# {words['doctor']}", words["doctor_above"], *parts)


def _check(check: Check, language: str) -> str:
    words = WORDS[language]
    case, finding = findings()[check.id]
    about = check.about if language == "en" else ""
    sources = ", ".join(f"<{one}>" for one in case["sources"])
    said = [
        f"**{words['says']}:** {plain(translated(finding.title, language))}",
        f"**{words['how']}:** {plain(translated(finding.evidence, language))}",
        f"**{words['remedy']}:**",
        fence(finding.remedy or "", "shell"),
        f"**{words['sure']}:** {plain(translated(finding.confidence or '', language))}",
        f"**{words['reported']}:** {plain(case['reported'])} {sources}",
    ]
    return page(
        f"({anchor('check', check.id, language)})=\n## {code(check.id)}: "
        f"{plain(translated(check.title, language))}",
        plain(about),
        *said,
    ).rstrip()


@cache
def findings() -> dict[str, tuple[dict[str, Any], CheckResult]]:
    """For each check a fault of tests/explain/doctor/broken, and what the doctor finds there first."""
    found: dict[str, tuple[dict[str, Any], CheckResult]] = {}
    for path in tracked(_DOCTOR / "broken", "*.json"):
        case = json.loads(path.read_text(encoding="utf-8"))
        if case["expect"] not in found:
            found[case["expect"]] = case, diagnose(_facts(case["machine"], case["changes"])).findings[0]
    return found


def _facts(machine: str, changes: Mapping[str, Any]) -> Any:
    """A healthy machine of tests/explain/doctor/machines with some facts changed, as its tests do it."""
    data = json.loads((_DOCTOR / "machines" / f"{machine}.json").read_text(encoding="utf-8"))
    for way, value in changes.items():
        *parents, last = way.split("/")
        place: Any = data
        for step in parents:
            place = place[int(step)] if isinstance(place, list) else place[step]
        key: Any = int(last) if isinstance(place, list) else last
        if value == "<delete>":
            del place[key]
        else:
            place[key] = value
    return reading.from_json(data)
