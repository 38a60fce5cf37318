"""The workflows are what GitHub accepts, may do little, and call only what the Makefile has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tracked import tracked

from constraints import ROOT

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = tracked(FOLDER, "*.yml")
each_workflow = pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)


def jobs_of(path: Path) -> dict[str, Any]:
    """The jobs of a workflow, by name."""
    jobs: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return jobs


def commands_of(path: Path) -> list[str]:
    """The shell commands of a workflow."""
    return [step["run"] for job in jobs_of(path).values() for step in job.get("steps", []) if "run" in step]


def targets_in(commands: list[str]) -> set[str]:
    """The make targets that commands call."""
    return {
        target
        for command in commands
        for called in re.findall(r"^make (.+)$", command, flags=re.MULTILINE)
        for target in re.sub(r"\$\{\{.*?\}\}", "", called).split()  # without GitHub's expressions
        if "=" not in target
    }


@pytest.mark.needs("check_jsonschema")
def test_the_workflows_are_valid() -> None:
    """check-jsonschema has the schema with it and needs no network."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, WORKFLOWS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@each_workflow
def test_the_commands_of_the_workflows_are_there(path: Path) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: ([a-z-]+)$", makefile, flags=re.MULTILINE))
    commands = commands_of(path)
    assert targets_in(commands) <= targets
    scripts = {command for command in commands if re.fullmatch(r"\S*/\S+", command)}
    assert all((ROOT / script).is_file() for script in scripts)


@each_workflow
def test_a_workflow_may_read_and_no_more_unless_a_job_says_so(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}
    publishing = {
        "release": {"publish": {"id-token": "write", "attestations": "write"}},
        "pages": {"publish": {"id-token": "write", "pages": "write"}},
    }
    assert {
        name: job["permissions"] for name, job in jobs_of(path).items() if "permissions" in job
    } == publishing.get(path.stem, {})


def test_the_job_that_publishes_pages_runs_no_command_and_follows_what_builds_them() -> None:
    jobs = jobs_of(FOLDER / "pages.yml")
    assert not any("run" in step for step in jobs["publish"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert {"docs", "demo"} <= targets_in(commands_of(FOLDER / "pages.yml"))


def test_the_job_that_may_publish_runs_no_command_and_follows_tests_and_checks() -> None:
    jobs = jobs_of(FOLDER / "release.yml")
    assert not any("run" in step for step in jobs["publish"]["steps"])
    assert jobs["publish"]["needs"] == "build"
    assert jobs["build"]["needs"] == "tests"
    used = [step["uses"].partition("@")[0] for step in jobs["publish"]["steps"]]
    assert used.index("actions/attest-build-provenance") < used.index("pypa/gh-action-pypi-publish")


def test_a_release_begins_with_a_tag_alone_and_waits_for_a_person() -> None:
    workflow = yaml.safe_load((FOLDER / "release.yml").read_text(encoding="utf-8"))
    assert workflow[True] == {"push": {"tags": ["v*"]}}  # YAML 1.1 reads the key `on` as true
    environment = workflow["jobs"]["publish"]["environment"]
    (check,) = [one for one in commands_of(FOLDER / "release.yml") if "required_reviewers" in one]
    assert f"/environments/{environment}" in check


@each_workflow
def test_every_action_is_pinned_by_its_commit_with_the_version_beside_it(path: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text(encoding="utf-8"))
    assert used
    for action, comment in used:
        if not action.startswith("./"):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), action
            assert re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


@each_workflow
def test_no_checkout_leaves_its_password_behind(path: Path) -> None:
    checkouts = [
        step
        for job in jobs_of(path).values()
        for step in job.get("steps", [])
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)
