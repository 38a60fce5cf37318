"""What somebody sees who finds the repository: short, complete, and of one piece."""

from __future__ import annotations

import json
import re

import yaml
from tracked import tracked

from constraints import ROOT

#: What a maintainer and a visitor expect beside the code.
EXPECTED = (
    "LICENSE",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "SECURITY.md",
    "CITATION.cff",
    ".pre-commit-config.yaml",
    ".devcontainer/devcontainer.json",
    ".github/PULL_REQUEST_TEMPLATE.md",
    ".github/ISSUE_TEMPLATE/wrong.yml",
)


def test_the_readme_is_one_page() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 100
    commands = [line for line in lines if re.match(r"\| [^|]*\? \| `", line)]
    assert len(commands) == 6


def test_what_a_visitor_looks_for_is_there() -> None:
    assert [name for name in EXPECTED if not (ROOT / name).is_file()] == []


def test_every_picture_of_the_readme_and_the_documentation_is_there() -> None:
    pages = [ROOT / "README.md", *tracked(ROOT / "docs", "**/*.md")]
    shown = [
        (page.parent / address).resolve()
        for page in pages
        for address in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in address
    ]
    assert len(shown) > 5
    assert [str(path) for path in shown if not path.is_file()] == []


def test_forms_and_settings_can_be_read() -> None:
    for form in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"):
        data = yaml.safe_load(form.read_text(encoding="utf-8"))
        assert form.name == "config.yml" or {"name", "description", "body"} <= data.keys()
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["license"] == "BSD-3-Clause"
    made = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8"))
    assert made["postCreateCommand"] == "make install"


def test_before_a_commit_the_tools_of_make_lint_run() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (steps,) = re.findall(r"^lint: .*\n((?:\t.*\n)+)", makefile, flags=re.MULTILINE)
    settings = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    hooks = [hook["entry"] for repo in yaml.safe_load(settings)["repos"] for hook in repo["hooks"]]
    for tool in ("ruff check", "ruff format", "mypy", "lint"):
        assert tool in steps
        assert any(tool in entry for entry in hooks), tool
    typed = re.findall(r"^TYPED := \$\(wildcard (.*)\)$", makefile, flags=re.MULTILINE)
    assert any(entry == f".venv/bin/mypy {typed[0]}" for entry in hooks)
