"""Runs the contract suite over the oldest and the newest version of each framework; `make test-versions`.

    framework_versions.py torch mlx --pythons 3.11 3.13 3.14t

The lower bound of a framework's extra (pyproject.toml) runs under the first Python that is at hand, and the
newest version that pip finds under each. Every run has an environment of its own, with no other framework,
which is removed after it. The table at the end names the versions. A version that was not built for a Python
is no failure, nor is a Python that is not at hand.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import run_tests
from run_tests import MOST_FLAKY, TESTS_FAILED, PytestRunner

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ROOT / "pyproject.toml"
ENVIRONMENTS = ROOT / "build" / "environments"
SCRIPT = str(ROOT / "scripts" / "environments.sh")
SUITE = "tests/measure/contract"
#: What its modules import besides.
NEEDED = ("numpy",)
PIP = (
    "-m",
    "pip",
    "install",
    "--disable-pip-version-check",
    "--progress-bar",
    "off",
    "--only-binary",
    ":all:",
)
#: Prints which import switches the GIL on in a Python without one.
GIL = """
import sys
for name in ("jupyter_mlgpu", "jupyter_mlgpu.measure.runtime", {module!r}):
    __import__(name)
    if sys._is_gil_enabled():
        print(name, "switches the GIL on")
        break
else:
    print("the GIL stays off")
"""


@dataclass
class Row:
    """A line of the table: one version of a framework under one Python."""

    framework: str
    end: str
    python: str
    version: str = ""
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    #: Why nothing ran, or what else is to be said.
    note: str = ""
    is_failure: bool = False

    def __str__(self) -> str:
        counts = f"{self.passed:>7}{self.failed:>7}{self.skipped:>8}{self.seconds:>8.0f}"
        head = f"{self.framework:<12}{self.end:<8}{self.version or '-':<14}{self.python:<8}"
        return f"{head}{counts}  {self.note}".rstrip()


HEADER = (
    f"{'framework':<12}{'end':<8}{'version':<14}{'Python':<8}"
    f"{'passed':>7}{'failed':>7}{'skipped':>8}{'seconds':>8}"
)


def requirements(framework: str, end: str) -> list[str]:
    """Return what pip is asked for: the framework's extra, or each lower bound of it as an exact version."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    asked: list[str] = project["optional-dependencies"][framework]
    return asked if end == "newest" else [text.replace(">=", "==", 1) for text in asked]


def run_row(row: Row, base: Path) -> None:
    """Install a version above the environment `base`, run the suite, and fill in the row."""
    folder = ENVIRONMENTS / f"versions-{row.framework}"
    try:
        subprocess.run([SCRIPT, "above", folder, base], cwd=ROOT, check=True)
        python = str(folder / "bin" / "python")
        if install(row, python):
            run_suite(row, python)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def install(row: Row, python: str) -> bool:
    """Install the framework; return False, with the reason in the row, if there is nothing to run."""
    asked = requirements(row.framework, row.end)
    print(f"==> installing {' '.join(asked)} under Python {row.python}", flush=True)
    if row.framework == "torch":
        subprocess.run([SCRIPT, "announce-torch", python, *asked], cwd=ROOT)
    done = subprocess.run([python, *PIP, *asked, *NEEDED], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        last = done.stderr.strip().rpartition("\n")[2]
        row.is_failure = "No matching distribution found" not in last
        row.note = f"not installed: {last}" if row.is_failure else "not built for this Python"
        print(done.stderr, flush=True)
        return False
    row.version = run_python(python, f"import importlib.metadata as m; print(m.version({row.framework!r}))")
    if not row.version:
        row.note = "the extra leaves it out under this Python"
        return False
    if row.python.endswith("t"):
        module = "mlx.core" if row.framework == "mlx" else row.framework
        row.note = run_python(python, GIL.format(module=module)) or "the GIL's state is not known"
    return True


def run_python(python: str, code: str) -> str:
    """Return the last line that some code prints, empty if it fails."""
    done = subprocess.run([python, "-c", code], cwd=ROOT, capture_output=True, text=True)
    return done.stdout.strip().rpartition("\n")[2] if done.returncode == 0 else ""


def run_suite(row: Row, python: str) -> None:
    """Run the contract suite, and what fails once more, alone."""
    print(f"==> contract suite over {row.framework} {row.version} under Python {row.python}", flush=True)
    os.environ["JUPYTER_MLGPU_REQUIRE"] = row.framework
    begun = time.monotonic()
    # The warning is about a module of somebody else's, such as PyTorch's triton.
    options = ("-W", "ignore:The global interpreter lock:RuntimeWarning") if row.python.endswith("t") else ()
    runner = PytestRunner(python, options, (SUITE,))
    outcome = runner.run()
    flaky: dict[str, list[str]] = {}
    if outcome.status == TESTS_FAILED and 0 < len(outcome.failed) <= MOST_FLAKY:
        flaky = run_tests.repeat(runner, f"test-versions-{row.framework}-{row.version}", outcome.failed)
    failed = [name for name in outcome.failed if name not in flaky]
    row.passed, row.failed = outcome.passed + len(flaky), len(failed)
    row.skipped = sum(outcome.skipped.values())
    row.seconds = time.monotonic() - begun
    row.is_failure = bool(failed) or outcome.status not in (0, TESTS_FAILED) or not row.passed
    if row.is_failure and not failed:
        row.note = f"pytest ended with exit status {outcome.status}"


def run_python_version(version: str, frameworks: Sequence[str], ends: Sequence[str]) -> Iterator[Row]:
    """Run the frameworks under one Python, and yield their rows."""
    rows = [Row(framework, end, version) for framework in frameworks for end in ends]
    base = ENVIRONMENTS / f"python-{version}"
    made = subprocess.run(["make", "--no-print-directory", f"{base.relative_to(ROOT)}/.packages"], cwd=ROOT)
    try:
        for row in rows:
            if made.returncode:
                row.note, row.is_failure = "what the tests need could not be installed", True
            else:
                run_row(row, base)
            print(f"<== {row}", flush=True)
            yield row
    finally:
        shutil.rmtree(base, ignore_errors=True)


def is_at_hand(version: str) -> bool:
    """Return whether there is such a Python."""
    return subprocess.run([SCRIPT, "other", version], cwd=ROOT, capture_output=True).returncode == 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all of them and print the table; 1 where one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("frameworks", nargs="+", metavar="FRAMEWORK")
    parser.add_argument("--pythons", nargs="+", required=True, metavar="VERSION", help="3.13, or 3.14t")
    asked = parser.parse_args(arguments)
    there = [version for version in asked.pythons if is_at_hand(version)]
    rows: list[Row] = []
    for number, version in enumerate(there):
        rows += run_python_version(version, asked.frameworks, ("newest",) if number else ("oldest", "newest"))
    print(
        "\n".join([f"==> {HEADER}", *(f"    {row}" for row in sorted(rows, key=lambda row: row.framework))])
    )
    for version in asked.pythons:
        if version not in there:
            print(f"    Python {version}: not run, for none is at hand")
    return 1 if any(row.is_failure for row in rows) or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
