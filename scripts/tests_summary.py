"""Prints how the parts of a run ended: tests_summary.py FOLDER TITLE.

FOLDER holds a report of each part (scripts/run_tests.py). The exit status is 1 where no test ran at all, as
with a `-k` that no test matches, and where more tests were flaky than a run may have; what failed has failed
its own part.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

#: Tests that may fail and pass when repeated alone, before the whole run fails.
MOST_FLAKY = 5


def read(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """The reports in a folder by part, in the order in which the parts ended."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
        found.setdefault(path.name.partition(".")[0], []).append(json.loads(path.read_text(encoding="utf-8")))
    return found


def flaky_in(parts: dict[str, list[dict[str, Any]]]) -> dict[str, Sequence[str]]:
    """The files with both outputs of each flaky test, by its name."""
    return {name: kept for runs in parts.values() for one in runs for name, kept in one["flaky"].items()}


def as_text(title: str, parts: dict[str, list[dict[str, Any]]]) -> str:
    """One line a part, then what failed, was flaky, or was skipped, with the reason."""
    lines = [f"{'part':<24}{'passed':>8}{'failed':>8}{'flaky':>7}{'skipped':>9}{'seconds':>9}"]
    failed: list[str] = []
    skipped: Counter[str] = Counter()
    for part, runs in parts.items():
        numbers = [
            sum(one["passed"] for one in runs),
            sum(len(one["failed"]) for one in runs),
            sum(len(one["flaky"]) for one in runs),
            sum(sum(one["skipped"].values()) for one in runs),
        ]
        seconds = sum(one["seconds"] for one in runs)
        lines.append(
            f"{part:<24}{numbers[0]:>8,}{numbers[1]:>8}{numbers[2]:>7}{numbers[3]:>9}{seconds:>9.0f}"
        )
        for one in runs:
            failed += one["failed"]
            skipped.update(one["skipped"])
    lines += [f"failed: {name}" for name in failed]
    flaky = flaky_in(parts)
    if flaky:
        lines.append(
            f"flaky, failed and then passed alone: {len(flaky)}, of which a run may have {MOST_FLAKY}"
        )
    for name, (first, second) in flaky.items():
        lines += [f"  {name}", f"    {first}", f"    {second}"]
    lines += [f"skipped, {number} test(s): {reason}" for reason, number in skipped.items()]
    return "\n".join([f"==> {title}", *(f"    {line}" for line in lines)])


def main(arguments: Sequence[str]) -> int:
    """Print it; 1 where no test ran, or too many were flaky."""
    folder, title = arguments
    parts = read(Path(folder))
    print(as_text(title, parts), flush=True)
    flaky = flaky_in(parts)
    if len(flaky) > MOST_FLAKY:
        print(f"{len(flaky)} flaky tests in {title}; {MOST_FLAKY} are the most that pass.", file=sys.stderr)
        return 1
    if any(one["passed"] or one["failed"] for runs in parts.values() for one in runs):
        return 0
    print(f"No test ran in {title}: none matches, or no part came to its end.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
