"""Runs the tests of one part, and those that fail once more, each alone in a fresh process (docs/adr/0026).

    run_tests.py PART [--environment FOLDER] PYTHON [OPTION...] -- [SELECTION...]
    run_tests.py PART node FOLDER PATTERN

A test that passes the second time is flaky: the part passes, both outputs are kept in build/repeated/, and
the summary names it (scripts/tests_summary.py). With more failures than a run may have flaky tests, nothing
is repeated: the run fails in any case. With --environment, make builds that environment first, unless no test
is selected.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tests_summary import MOST_FLAKY

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "test-reports"
REPEATED = ROOT / "build" / "repeated"
#: The variable with which tests/conftest.py is told where to write how a run ended.
REPORT = "JUPYTER_MLGPU_TEST_REPORT"
#: Exit statuses of pytest: tests failed; a module could not be read; no test was selected.
TESTS_FAILED, INTERRUPTED, NO_TESTS = 1, 2, 5


@dataclass
class Outcome:
    """How a run of tests ended."""

    status: int
    passed: int = 0
    #: What each failed test printed, by the name with which it is repeated.
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)


class Runner(Protocol):
    """Runs a part's tests, or one of them alone."""

    def run(self) -> Outcome:
        """Run all of them."""

    def repeat(self, name: str) -> tuple[bool, str]:
        """Run one that failed, alone in a fresh process; whether it passed, and what was printed."""


@dataclass(frozen=True)
class PytestRunner:
    """pytest on the tests that `selection` names; the cells of a notebook are repeated together."""

    python: str
    options: Sequence[str]
    selection: Sequence[str]
    folder: Path = ROOT

    def run(self) -> Outcome:
        with tempfile.TemporaryDirectory() as place:
            report = Path(place, "report.json")
            command = [self.python, "-m", "pytest", *self.options, *self.selection]
            status = subprocess.run(
                command, cwd=self.folder, env={**os.environ, REPORT: str(report)}
            ).returncode
            told = _read(report)
        if any("::" not in name for name in told["failed"]):
            status = INTERRUPTED  # a module that cannot be read, for which xdist says TESTS_FAILED
        failed: dict[str, str] = {}
        for name, output in told["failed"].items():
            unit = name.partition("::")[0] if ".ipynb::" in name else name
            failed[unit] = f"{failed[unit]}\n\n{output}" if unit in failed else output
        return Outcome(status, told["passed"], failed, told["skipped"])

    def repeat(self, name: str) -> tuple[bool, str]:
        with tempfile.TemporaryDirectory() as place:
            report = Path(place, "report.json")
            done = subprocess.run(
                [self.python, "-m", "pytest", *self.options, "--numprocesses", "0", name],
                cwd=self.folder,
                env={**os.environ, REPORT: str(report)},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            told = _read(report)
        return done.returncode == 0 and told["passed"] > 0, done.stdout

    def selects_any(self, python: str) -> bool:
        """Whether there is a test to run, as another environment's Python collects them."""
        command = [python, "-m", "pytest", "--collect-only", "-qq", *self.selection]
        environment = {name: value for name, value in os.environ.items() if name != "JUPYTER_MLGPU_REQUIRE"}
        asked = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True)
        return asked.returncode != NO_TESTS


@dataclass(frozen=True)
class NodeRunner:
    """Node's test runner on the files of `folder` that match `pattern`, each of which is repeated whole."""

    folder: Path
    pattern: str

    def run(self) -> Outcome:
        with tempfile.TemporaryDirectory() as place:
            report = Path(place, "report.json")
            reporters = ["--test-reporter=spec", "--test-reporter-destination=stdout"]
            reporters += [f"--test-reporter={ROOT / 'scripts' / 'node_report.mjs'}"]
            command = ["node", "--test", *reporters, f"--test-reporter-destination={report}", self.pattern]
            status = subprocess.run(command, cwd=self.folder).returncode
            told = _read(report)
        return Outcome(status, told["passed"], told["failed"], told["skipped"])

    def repeat(self, name: str) -> tuple[bool, str]:
        done = subprocess.run(
            ["node", "--test", name],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return done.returncode == 0, done.stdout


def _read(report: Path) -> dict[str, Any]:
    """What a run has written; nothing passed or failed where it died before."""
    if not report.exists():
        return {"passed": 0, "failed": {}, "skipped": {}}
    told: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    return told


@dataclass(frozen=True)
class Repeated:
    """A test that failed and was run again: its two outputs, and whether it passed then."""

    name: str
    passed: bool
    outputs: tuple[Path, Path]


def repeat(runner: Runner, part: str, failed: Mapping[str, str]) -> list[Repeated]:
    """Run each of these again, alone, and keep both outputs."""
    found = []
    REPEATED.mkdir(parents=True, exist_ok=True)
    for name, first in failed.items():
        print(f"==> again, alone: {name}", flush=True)
        passed, second = runner.repeat(name)
        print(f"<== {'passed: it is flaky' if passed else 'failed again'}: {name}", flush=True)
        if not passed:
            print(second, flush=True)
        kept = re.sub(r"[^\w.-]+", "-", f"{part}-{name}")[-150:].strip("-")
        outputs = (REPEATED / f"{kept}.first.txt", REPEATED / f"{kept}.second.txt")
        for path, text in zip(outputs, (first, second), strict=True):
            path.write_text(text, encoding="utf-8")
        found.append(Repeated(name, passed, outputs))
    return found


def run(runner: Runner, part: str, reports: Path = REPORTS) -> int:
    """Run a part, repeat what failed, and write its report; the exit status."""
    begun = time.monotonic()
    outcome = runner.run()
    repeated: list[Repeated] = []
    if outcome.status == TESTS_FAILED and 0 < len(outcome.failed) <= MOST_FLAKY:
        repeated = repeat(runner, part, outcome.failed)
    flaky = {one.name: [str(path) for path in one.outputs] for one in repeated if one.passed}
    report = {
        "seconds": time.monotonic() - begun,
        "passed": outcome.passed + len(flaky),
        "failed": [name for name in outcome.failed if name not in flaky],
        "flaky": flaky,
        "skipped": outcome.skipped,
    }
    reports.mkdir(parents=True, exist_ok=True)
    (reports / f"{part}.{os.getpid()}.json").write_text(json.dumps(report), encoding="utf-8")
    if outcome.status == TESTS_FAILED and flaky and not report["failed"]:
        return 0
    return outcome.status


def main(arguments: Sequence[str]) -> int:
    """Run the part that these name."""
    part, *words = arguments
    if words[0] == "node":
        return run(NodeRunner(ROOT / words[1], words[2]), part)
    environment = None
    if words[0] == "--environment":
        _, environment, *words = words
    end = words.index("--")
    runner = PytestRunner(words[0], words[1:end], words[end + 1 :])
    if environment is not None:
        if not Path(ROOT, environment).exists() and not runner.selects_any(sys.executable):
            print(f"    no test is selected, so {environment} is not made", flush=True)
            return 0
        made = subprocess.run(["make", "--no-print-directory", f"{environment}/.packages"], cwd=ROOT)
        if made.returncode:
            return made.returncode
    return run(runner, part)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
