"""Runs what `make test` leaves out: `make test-all` all of it, continuous integration what a change touches.

With --seconds, only parts that the change touches run, the shortest first, as far as they fit. Of a part that
does not fit, those modules run that belong to the rooms the change touches. The end names what did not run.
`make test`, which has run just before, tells how fast this machine is.

The change is what differs from the commit of CI_BASE where this variable is set, else from the newest
ancestor of HEAD that .ci/passed names, a hash a line. Without either, as in a shallow clone, every part is
touched.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import run_tests
from tracked import tracked

ROOT = Path(__file__).resolve().parent.parent
#: Seconds that the parts of `make test` take on the machine where the parts below take theirs.
TEST_SECONDS = 600
#: A change of these may break any part.
EVERYWHERE = (
    "Makefile",
    "constraints/make.txt",
    "constraints/tests.txt",
    "pyproject.toml",
    "scripts/run_tests.py",
    "tests/conftest.py",
    "tests/support/",
)
PAGE = "labextension/ jupyter_mlgpu/jupyter/notebook/ jupyter_mlgpu/jupyter/server/"
LESSONS = "notebooks/ jupyter_mlgpu/teach/lessons/"
ROOMS = (
    *("record", "measure", "explain", "graphs", "experiment", "show", "jupyter", "teach"),
    *("structure", "limits"),
)
#: As tests/conftest.py names the tests with a kernel, and what is for `make test-all` alone.
KERNEL = re.compile(r"^pytestmark = (\[\s*)?pytest\.mark\.kernel\b", re.MULTILINE)
SLOW = re.compile(r"mark\.slow\b")
BROWSER = "tests/jupyter/lab"


@dataclass(frozen=True)
class Part:
    """A target of the Makefile."""

    target: str
    #: Without installing.
    seconds: float
    why: str
    #: How the paths begin whose change it should see, with blanks between.
    touched_by: str
    #: Its modules with their weights, where some of them can run without the others.
    modules: Callable[[], dict[str, int]] = dict
    #: The modules that run; all where there is none.
    only: tuple[str, ...] = ()

    def is_touched(self, changed: Iterable[str]) -> bool:
        """Return whether one of these files lies in one of its paths."""
        return any(path.startswith((*EVERYWHERE, *self.touched_by.split())) for path in changed)

    def modules_of(self, changed: Sequence[str]) -> list[str]:
        """Return its modules that are about what changed, those first that have changed themselves."""
        found = [module for module in self.modules() if is_about(module, changed)]
        return sorted(found, key=lambda module: module not in changed)


def is_about(module: str, changed: Sequence[str]) -> bool:
    """Return whether a change touches the room of a test module, or the lesson of a notebook.

    A test in a browser may be about any change.
    """
    if lesson := re.match(r"notebooks/(?:solutions/)?(\d\d)_", module):
        # Its notebooks, its exercises or its mistakes.
        return any(re.search(rf"(^notebooks/(\w+/)?|lesson_){lesson[1]}", path) for path in changed)
    return module.startswith(BROWSER) or bool(rooms_of([module]) & rooms_of(changed))


def rooms_of(paths: Iterable[str]) -> set[str]:
    """Return the rooms of these files, by the package's folders and by those of the tests."""
    parts = [path.split("/") for path in paths]
    return {one[1] for one in parts if one[0] in ("jupyter_mlgpu", "tests") and len(one) > 2} & set(ROOMS)


def slow_modules(folders: Iterable[str], kind: re.Pattern[str]) -> dict[str, int]:
    """Return the test modules of a kind that have slow tests, with their numbers of slow marks."""
    found = {}
    for path in [path for folder in folders for path in tracked(ROOT / folder, "**/test_*.py")]:
        text = path.read_text(encoding="utf-8")
        if (marks := len(SLOW.findall(text))) and kind.search(text):
            found[str(path.relative_to(ROOT))] = marks
    return found


def lessons() -> dict[str, int]:
    """Return the lessons and their solutions."""
    folders = (ROOT / "notebooks", ROOT / "notebooks" / "solutions")
    return {
        str(path.relative_to(ROOT)): 1 for folder in folders for path in tracked(folder, "[0-9]*_*.ipynb")
    }


PARTS = (
    Part("test-packaging", 170, "installing", "constraints/ scripts/ .ci/ tests/packaging/ hatch_build.py"),
    Part(
        "test-unit",
        140,
        "networks that learn",
        f"{LESSONS} jupyter_mlgpu/experiment/bench/ tests/experiment/ tests/graphs/ tests/teach/",
    ),
    Part(
        "test-demo",
        100,
        "the demo page",
        "demo/ labextension/ notebooks/ scripts/demo_ tests/demo/ jupyter_mlgpu/show/ jupyter_mlgpu/record/",
    ),
    Part("test-docs", 65, "the documentation", "docs/ README.md jupyter_mlgpu/ scripts/docs_ tests/docs/"),
    Part("test-pages", 470, "every block of every page", "docs/ README.md jupyter_mlgpu/ tests/pages/"),
    Part("test-other-python", 200, "the other Pythons", "jupyter_mlgpu/ tests/structure/"),
    Part(
        "test-front-ends",
        70,
        "JupyterLab 4.4 and Notebook 7",
        f"{PAGE} tests/jupyter/lab/test_other_front_ends.py",
    ),
    Part(
        "test-frameworks",
        150,
        "all frameworks",
        "jupyter_mlgpu/measure/frameworks/ jupyter_mlgpu/measure/training_ jupyter_mlgpu/experiment/bench/ "
        "tests/measure/",
    ),
    Part(
        "test-class",
        480,
        "labs graded by nbgrader",
        "notebooks/labs/ jupyter_mlgpu/teach/commands/ jupyter_mlgpu/teach/grading/ "
        "jupyter_mlgpu/teach/submissions/ tests/teach/classes/",
    ),
    Part(
        "test-metal",
        110,
        "plans of larger models, and PyTorch learners' cells",
        "jupyter_mlgpu/graphs/ jupyter_mlgpu/measure/ tests/metal_emulator/ tests/mps_emulator/ "
        "tests/data/check_cells/ tests/data/learner_cells/",
    ),
    Part(
        "test-integration",
        480,
        "slow tests with a kernel",
        "jupyter_mlgpu/ " + " ".join(f"tests/{room}/" for room in ROOMS),
        lambda: slow_modules([f"tests/{room}" for room in ROOMS], KERNEL),
    ),
    Part("test-binder", 130, "Binder and the workflows", "binder/ .github/ constraints/ tests/binder/"),
    Part(
        "test-hub",
        200,
        "JupyterHub 5 and 6",
        f"{PAGE} jupyter_mlgpu/teach/sharing/ tests/jupyter/lab/test_hub.py",
    ),
    Part(
        "test-ui",
        540,
        "slow tests in a browser",
        f"{PAGE} {BROWSER}/",
        lambda: slow_modules([BROWSER], SLOW),
    ),
    Part("test-fuzz", 360, "strangers' files, 2,000 a reader", "jupyter_mlgpu/ tests/fuzz/"),
    Part("test-peers", 660, "the suites of others, with us", "jupyter_mlgpu/jupyter/notebook/"),
    Part("test-lessons", 1000, "all lessons and their solutions", LESSONS, lessons),
)


def modules_that_fit(part: Part, changed: Sequence[str], seconds: float) -> Part | None:
    """The part with as many of the modules about what changed as end in time, or None where it is none."""
    weights = part.modules()
    unit = part.seconds / max(1, sum(weights.values()))
    taken: list[str] = []
    took = 0.0
    for module in part.modules_of(changed):
        if took + weights[module] * unit <= seconds:
            taken.append(module)
            took += weights[module] * unit
    return replace(part, only=tuple(taken), seconds=took) if taken else None


def choose(parts: Sequence[Part], changed: Sequence[str], seconds: float) -> tuple[list[Part], list[str]]:
    """The parts that a change touches and that end in time, and a line for each that does not run whole."""
    taken: list[Part] = []
    left: list[str] = []
    for part in sorted(parts, key=lambda part: part.seconds):
        command = f"make {part.target} MARKS=slow (about {part.seconds:.0f} s): {part.why}"
        if not part.is_touched(changed):
            left.append(f"not touched: {command}")
            continue
        fitting = part if part.seconds <= seconds else modules_that_fit(part, changed, seconds)
        if fitting is None:
            left.append(f"no time for: {command}")
            continue
        if fitting.only:
            left.append(f"no time for all of: {command}; of it ran {' '.join(fitting.only)}")
        seconds -= fitting.seconds
        taken.append(fitting)
    return taken, left


class BaseError(Exception):
    """CI_BASE names no commit; the message says so in a sentence."""


def git(*words: str) -> str | None:
    """Return the output of git, or None where it fails or is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def base() -> str | None:
    """Return the commit to compare with, or None. Raises BaseError for an unknown CI_BASE."""
    if asked := os.environ.get("CI_BASE"):
        found = git("rev-parse", "--verify", "--quiet", f"{asked}^{{commit}}")
        if found is None:
            raise BaseError(
                f"CI_BASE is {asked!r}, which is no commit of this clone: fetch it, or unset CI_BASE to "
                "compare with the newest ancestor in .ci/passed."
            )
        return found.strip()
    passed = ROOT / ".ci" / "passed"
    named = passed.read_text(encoding="utf-8").split() if passed.exists() else []
    distances = [
        (git("rev-list", "--count", f"{commit}..HEAD"), commit) for commit in named if is_ancestor(commit)
    ]
    return min(((int(count), commit) for count, commit in distances if count), default=(0, None))[1]


def is_ancestor(commit: str) -> bool:
    """Return whether HEAD comes from this commit."""
    return git("merge-base", "--is-ancestor", commit, "HEAD") is not None


def changed_since(commit: str) -> tuple[str, ...]:
    """Return the tracked files that differ from a commit, also where that is not committed yet."""
    differing = git("diff", "--name-only", "-z", "--no-renames", commit) or ""
    return tuple(sorted(filter(None, differing.split("\0"))))


def slowness() -> float:
    """Return by what factor parts take longer here than in the table; 1 without a report of `make test`."""
    seconds = sum(one["seconds"] for runs in run_tests.reports().values() for one in runs)
    return seconds / TEST_SECONDS if seconds else 1.0


def run(parts: Sequence[Part]) -> list[str]:
    """Run these; the targets that failed."""
    failed = []
    for part in parts:
        begun = time.monotonic()
        print(f"==> make {part.target}: {part.why}", flush=True)
        command = ["make", "--no-print-directory", part.target, "MARKS=slow"]
        command += [f"ONLY={' '.join(part.only)}"] if part.only else []
        done = subprocess.run(command, cwd=ROOT)
        ended = "done" if done.returncode == 0 else "FAILED"
        print(f"<== make {part.target}: {ended} in {time.monotonic() - begun:.0f} s", flush=True)
        if done.returncode:
            failed.append(part.target)
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them; 1 where one failed, or where too many tests were flaky."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, help="how long the parts may take; without it, all run")
    seconds = parser.parse_args(arguments).seconds
    parts, left = list(PARTS), list[str]()
    if seconds is not None:
        try:
            commit = base()
        except BaseError as error:
            print(error, file=sys.stderr)
            return 2
        changed = changed_since(commit) if commit else ("Makefile",)
        compared = f"{len(changed)} files differ from {commit}" if commit else "no commit to compare with"
        print(f"==> what the change touches: {compared}", flush=True)
        parts, left = choose(PARTS, changed, seconds / slowness())
    failed = run(parts)
    status = run_tests.summarize("all tests that ran")
    for line in left:
        print(f"    {line}")
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else status


if __name__ == "__main__":
    sys.exit(main())
