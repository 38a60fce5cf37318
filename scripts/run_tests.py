"""Runs the tests of one part, and those that fail once more, each alone in a fresh process (docs/adr/0026).

    run_tests.py PART [--environment FOLDER] PYTHON [OPTION...] -- [SELECTION...]
    run_tests.py PART node FOLDER PATTERN
    run_tests.py --summary TITLE

A test that passes the second time is flaky: the part passes, both outputs are kept in build/repeated/, and
the summary names it. With more failures than a run may have flaky tests, nothing is repeated: the run fails
in any case. With --environment, make builds that environment first, unless no test is selected.

The summary prints how the parts of a run ended. Its exit status is 1 where no test ran at all, as with a `-k`
that no test matches, and where more tests were flaky than a run may have. Tests that failed have failed their
own part.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Holds a report of each part that ran, for the summary.
REPORTS = ROOT / "build" / "test-reports"
REPEATED = ROOT / "build" / "repeated"
#: Tests that may fail and pass when repeated alone, before the whole run fails.
MOST_FLAKY = 5
#: The variable that names the file in which tests/conftest.py writes how a run ended.
REPORT = "JUPYTER_MLGPU_TEST_REPORT"
#: Exit statuses of pytest: tests failed; a module could not be read; no test was selected.
TESTS_FAILED, INTERRUPTED, NO_TESTS = 1, 2, 5


@dataclass
class Outcome:
    """The result of a run of tests."""

    status: int
    passed: int = 0
    #: What each failed test printed, by the name with which it is repeated.
    failed: dict[str, str] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PytestRunner:
    """Runs pytest on the tests that `selection` names; the cells of a notebook are repeated together."""

    python: str
    options: Sequence[str]
    selection: Sequence[str]
    folder: Path = ROOT

    def run(self) -> Outcome:
        """Run all tests."""
        done, told = self._pytest([*self.options, *self.selection], capture=False)
        status = done.returncode
        if any("::" not in name for name in told["failed"]):
            status = INTERRUPTED  # a module that cannot be read, for which xdist says TESTS_FAILED
        failed: dict[str, str] = {}
        for name, output in told["failed"].items():
            unit = name.partition("::")[0] if ".ipynb::" in name else name
            failed[unit] = f"{failed[unit]}\n\n{output}" if unit in failed else output
        return Outcome(status, told["passed"], failed, told["skipped"])

    def repeat(self, name: str) -> tuple[bool, str]:
        """Run one test alone in a fresh process; return whether it passed, and what was printed."""
        done, told = self._pytest([*self.options, "--numprocesses", "0", name], capture=True)
        return done.returncode == 0 and told["passed"] > 0, done.stdout

    def selects_any(self, python: str) -> bool:
        """Return whether there is a test to run, as another environment's Python collects them."""
        command = [python, "-m", "pytest", "--collect-only", "-qq", *self.selection]
        environment = {name: value for name, value in os.environ.items() if name != "JUPYTER_MLGPU_REQUIRE"}
        asked = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True)
        return asked.returncode != NO_TESTS

    def _pytest(
        self, words: list[str], *, capture: bool
    ) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        """Run pytest; return how it ended and what it reported, nothing where it died before."""
        with tempfile.TemporaryDirectory() as place:
            report = Path(place, "report.json")
            done = subprocess.run(
                [self.python, "-m", "pytest", *words],
                cwd=self.folder,
                env={**os.environ, REPORT: str(report)},
                stdout=subprocess.PIPE if capture else None,
                stderr=subprocess.STDOUT if capture else None,
                text=True,
            )
            told: dict[str, Any] = {"passed": 0, "failed": {}, "skipped": {}}
            if report.exists():
                told = json.loads(report.read_text(encoding="utf-8"))
        return done, told


@dataclass(frozen=True)
class NodeRunner:
    """Runs Node's test runner on the files of `folder` that match `pattern`, which are repeated together."""

    folder: Path
    pattern: str

    def run(self) -> Outcome:
        """Run all tests."""
        status, output = self._node()
        print(output, flush=True)
        counts = dict(re.findall(r"^\S (pass|skipped) (\d+)$", output, re.MULTILINE))
        skipped = {"in Node": int(counts["skipped"])} if int(counts.get("skipped", 0)) else {}
        return Outcome(status, int(counts.get("pass", 0)), {self.pattern: output} if status else {}, skipped)

    def repeat(self, name: str) -> tuple[bool, str]:
        """Run all of them again; return whether they passed, and what was printed."""
        status, output = self._node()
        return status == 0, output

    def _node(self) -> tuple[int, str]:
        command = ["node", "--test", "--test-reporter=spec", self.pattern]
        done = subprocess.run(
            command, cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        return done.returncode, done.stdout


Runner = PytestRunner | NodeRunner


def repeat(runner: Runner, part: str, failed: Mapping[str, str]) -> dict[str, list[str]]:
    """Run each failed test again, alone; return the files with both outputs of those that passed then."""
    flaky = {}
    REPEATED.mkdir(parents=True, exist_ok=True)
    for name, first in failed.items():
        print(f"==> again, alone: {name}", flush=True)
        passed, second = runner.repeat(name)
        print(f"<== {'passed: it is flaky' if passed else 'failed again'}: {name}", flush=True)
        if not passed:
            print(second, flush=True)
        kept = re.sub(r"[^\w.-]+", "-", f"{part}-{name}")[-150:].strip("-")
        outputs = [REPEATED / f"{kept}.first.txt", REPEATED / f"{kept}.second.txt"]
        for path, text in zip(outputs, (first, second), strict=True):
            path.write_text(text, encoding="utf-8")
        if passed:
            flaky[name] = [str(path) for path in outputs]
    return flaky


def run(runner: Runner, part: str) -> int:
    """Run a part, repeat what failed, and write its report; return the exit status."""
    begun = time.monotonic()
    outcome = runner.run()
    flaky: dict[str, list[str]] = {}
    if outcome.status == TESTS_FAILED and 0 < len(outcome.failed) <= MOST_FLAKY:
        flaky = repeat(runner, part, outcome.failed)
    failed = [name for name in outcome.failed if name not in flaky]
    keep_report(part, time.monotonic() - begun, outcome.passed + len(flaky), failed, flaky, outcome.skipped)
    if outcome.status == TESTS_FAILED and flaky and not failed:
        return 0
    return outcome.status


def keep_report(
    part: str,
    seconds: float,
    passed: int,
    failed: Sequence[str],
    flaky: Mapping[str, list[str]],
    skipped: Mapping[str, int],
) -> None:
    """Write how a part ended, for the summary."""
    told = {"seconds": seconds, "passed": passed, "failed": failed, "flaky": flaky, "skipped": skipped}
    REPORTS.mkdir(parents=True, exist_ok=True)
    (REPORTS / f"{part}.{os.getpid()}.json").write_text(json.dumps(told), encoding="utf-8")


def reports() -> dict[str, list[dict[str, Any]]]:
    """Return the reports by part, in the order in which the parts ended."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(REPORTS.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
        found.setdefault(path.name.partition(".")[0], []).append(json.loads(path.read_text(encoding="utf-8")))
    return found


def summarize(title: str) -> int:
    """Print a line for each part, then what failed, was flaky, or was skipped; return the exit status."""
    lines = [f"{'part':<24}{'passed':>8}{'failed':>8}{'flaky':>7}{'skipped':>9}{'seconds':>9}"]
    failed: list[str] = []
    flaky: dict[str, list[str]] = {}
    skipped: Counter[str] = Counter()
    ran = False
    for part, runs in reports().items():
        passed = sum(one["passed"] for one in runs)
        failures = sum(len(one["failed"]) for one in runs)
        flakes = sum(len(one["flaky"]) for one in runs)
        skips = sum(sum(one["skipped"].values()) for one in runs)
        seconds = sum(one["seconds"] for one in runs)
        lines.append(f"{part:<24}{passed:>8,}{failures:>8}{flakes:>7}{skips:>9}{seconds:>9.0f}")
        ran = ran or bool(passed or failures)
        for one in runs:
            failed += one["failed"]
            flaky |= one["flaky"]
            skipped.update(one["skipped"])
    lines += [f"failed: {name}" for name in failed]
    if flaky:
        lines.append(
            f"flaky, failed and then passed alone: {len(flaky)}, of which a run may have {MOST_FLAKY}"
        )
    for name, (first, second) in flaky.items():
        lines += [f"  {name}", f"    {first}", f"    {second}"]
    lines += [f"skipped, {number} test(s): {reason}" for reason, number in skipped.items()]
    print("\n".join([f"==> {title}", *(f"    {line}" for line in lines)]), flush=True)
    if len(flaky) > MOST_FLAKY:
        print(f"{len(flaky)} flaky tests in {title}; {MOST_FLAKY} are the most that pass.", file=sys.stderr)
        return 1
    if not ran:
        print(f"No test ran in {title}: none matches, or no part came to its end.", file=sys.stderr)
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """Run the part that the arguments name, or print the summary; return the exit status."""
    part, *words = arguments
    if part == "--summary":
        return summarize(words[0])
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
