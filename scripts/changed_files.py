"""Finds the files that differ from the last commit that passed; scripts/other_tests.py chooses tests by them.

That commit is CI_BASE where this variable is set, else the newest ancestor of HEAD that .ci/passed names, a
hash a line. Without either, as in a shallow clone, nothing is known of what changed.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class BaseError(Exception):
    """CI_BASE names no commit; the message says so in a sentence."""


def git(*words: str) -> str | None:
    """What git prints, or None where it fails or is not there."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout if done.returncode == 0 else None


def base() -> str | None:
    """The commit to compare with, or None where there is none. Raises BaseError for an unknown CI_BASE."""
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
    """Whether HEAD comes from this commit."""
    return git("merge-base", "--is-ancestor", commit, "HEAD") is not None


def changed_since(commit: str) -> tuple[str, ...]:
    """The files that git tracks and that differ from a commit, also where that is not committed yet."""
    differing = git("diff", "--name-only", "-z", "--no-renames", commit) or ""
    return tuple(sorted(filter(None, differing.split("\0"))))
