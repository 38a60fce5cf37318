"""Runs what `make test` leaves out: `make test-all` all of it, continuous integration what fits into an hour.

With --minutes, parts that the last day's commits touch come first, and one that would not end in time is not
begun: the end says which. How fast this machine is, is known from what `make test` has told here just before.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import tests_summary

ROOT = Path(__file__).resolve().parent.parent
REPORTS = ROOT / "build" / "test-reports"
#: Seconds of pytest in `make test` where the parts below take theirs.
TEST_SECONDS = 470


@dataclass(frozen=True)
class Part:
    """A target of the Makefile, the seconds it takes, and the paths a change of which it should see."""

    target: str
    seconds: int
    touched_by: tuple[str, ...]
    why: str

    def is_touched(self, changed: Iterable[str]) -> bool:
        """Whether one of these files lies in one of its paths."""
        return any(path.startswith(self.touched_by) for path in changed)


PAGE = ("labextension/", "jupyter_mlgpu/jupyter/notebook/")
LESSONS = ("notebooks/", "jupyter_mlgpu/teach/lessons/")
#: The quickest first.
PARTS = (
    Part("test-packaging", 170, ("constraints/", "pyproject.toml"), "pinned wheels, and what ours installs"),
    Part("test-unit", 80, ("jupyter_mlgpu/experiment/bench/", *LESSONS), "networks that learn"),
    Part("test-docs", 90, ("docs/", "README.md", "jupyter_mlgpu/"), "the documentation"),
    Part("test-other-python", 200, ("jupyter_mlgpu/", "tests/structure/"), "the other Pythons"),
    Part("test-front-ends", 110, PAGE, "JupyterLab 4.4 and Notebook 7"),
    Part(
        "test-frameworks",
        130,
        (
            "jupyter_mlgpu/measure/frameworks/",
            "jupyter_mlgpu/measure/training_",
            "jupyter_mlgpu/experiment/bench/",
        ),
        "all frameworks",
    ),
    Part(
        "test-class",
        220,
        ("notebooks/labs/", "jupyter_mlgpu/teach/grading/", "jupyter_mlgpu/teach/submissions/"),
        "labs graded by nbgrader",
    ),
    Part(
        "test-metal",
        90,
        ("jupyter_mlgpu/graphs/planning/", "tests/metal_emulator/"),
        "plans of larger models",
    ),
    Part("test-integration", 480, ("jupyter_mlgpu/", "tests/support/"), "slow tests with a kernel"),
    Part("test-binder", 240, ("binder/", ".github/", "constraints/"), "Binder and the workflows"),
    Part("test-hub", 200, (*PAGE, "jupyter_mlgpu/teach/sharing/"), "JupyterHub 5 and 6"),
    Part("test-ui", 340, (*PAGE, "tests/jupyter/lab/"), "slow tests in a browser"),
    Part("test-fuzz", 360, ("jupyter_mlgpu/", "tests/fuzz/"), "strangers' files, 2,000 a reader"),
    Part(
        "test-peers",
        660,
        ("jupyter_mlgpu/jupyter/notebook/", "constraints/make.txt"),
        "the suites of others, with us",
    ),
    Part("test-lessons", 1000, LESSONS, "all lessons and their solutions"),
)


def changed_files() -> tuple[str, ...]:
    """The files that commits of the last day before HEAD have changed; all where that cannot be told."""
    head = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    asked = subprocess.run(head, capture_output=True, text=True)
    if asked.returncode:
        return everything()
    since = f"--since={int(asked.stdout) - 24 * 3600}"
    told = subprocess.run(
        ["git", "-C", str(ROOT), "log", since, "--format=", "--name-only"], capture_output=True, text=True
    )
    return tuple(sorted(set(told.stdout.split("\n")) - {""})) or everything()


def everything() -> tuple[str, ...]:
    """A path in every part's."""
    return tuple(path for part in PARTS for path in part.touched_by)


def in_order(parts: Sequence[Part], changed: Sequence[str]) -> list[Part]:
    """Those that a change touches first; otherwise as they stand."""
    return sorted(parts, key=lambda part: not part.is_touched(changed))


def chosen(parts: Sequence[Part], seconds: float, slow: float) -> tuple[list[Part], list[Part]]:
    """Which of these end within so many seconds, each taking `slow` times its own, and the others."""
    taken: list[Part] = []
    others: list[Part] = []
    for part in parts:
        need = part.seconds * slow
        if need <= seconds:
            seconds -= need
            taken.append(part)
        else:
            others.append(part)
    return taken, others


def slowness() -> float:
    """How many times as long as there a part takes here; 1 where `make test` has left no report."""
    told = tests_summary.read(REPORTS)
    seconds = sum(one["seconds"] for runs in told.values() for one in runs)
    return seconds / TEST_SECONDS if seconds else 1.0


def run(parts: Sequence[Part]) -> list[str]:
    """Run these; the targets that failed."""
    failed = []
    for part in parts:
        begun = time.monotonic()
        print(f"==> make {part.target}: {part.why}", flush=True)
        done = subprocess.run(["make", "--no-print-directory", part.target, "MARKS=slow"], cwd=ROOT)
        ended = "done" if done.returncode == 0 else "FAILED"
        print(f"<== make {part.target}: {ended} in {time.monotonic() - begun:.0f} s", flush=True)
        if done.returncode:
            failed.append(part.target)
    return failed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run them; 1 where one failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, help="how long they may take; without it, all run")
    options = parser.parse_args(arguments)
    parts, left = list(PARTS), list[Part]()
    if options.minutes is not None:
        parts, left = chosen(in_order(PARTS, changed_files()), options.minutes * 60, slowness())
    shutil.rmtree(REPORTS, ignore_errors=True)
    failed = run(parts)
    print(tests_summary.as_text("make test-all", tests_summary.read(REPORTS)))
    for part in left:
        print(
            f"    not run here, for time: make {part.target} MARKS=slow (about {part.seconds} s): {part.why}"
        )
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
