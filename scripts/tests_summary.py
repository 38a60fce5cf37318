"""Tells how the parts of `make test` ended: tests_summary.py FOLDER TITLE.

FOLDER holds what each run of pytest has kept (tests/conftest.py). Exit status 1 where no test ran at all, as
with a `-k` that no test matches; what failed has failed its own part already.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def read(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """What was kept, by part, in the order in which the parts ended."""
    found: dict[str, list[dict[str, Any]]] = {}
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns):
        found.setdefault(path.name.partition(".")[0], []).append(json.loads(path.read_text(encoding="utf-8")))
    return found


def as_text(title: str, parts: dict[str, list[dict[str, Any]]]) -> str:
    """One line a part, then what failed, was repeated, or was not run, with the reason."""
    lines = [f"{'part':<24}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}"]
    failed: list[str] = []
    repeated: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    for part, runs in parts.items():
        numbers = [
            sum(one["passed"] for one in runs),
            sum(len(one["failed"]) for one in runs),
            sum(sum(one["skipped"].values()) for one in runs),
        ]
        seconds = sum(one["seconds"] for one in runs)
        lines.append(f"{part:<24}{numbers[0]:>8,}{numbers[1]:>8}{numbers[2]:>9}{seconds:>9.0f}")
        for one in runs:
            failed += one["failed"]
            repeated.update(one["repeated"])
            skipped.update(one["skipped"])
    lines += [f"failed: {name}" for name in failed]
    lines += [f"repeated after it had failed, {number} time(s): {name}" for name, number in repeated.items()]
    lines += [f"skipped, {number} test(s): {reason}" for reason, number in skipped.items()]
    return "\n".join([f"==> {title}", *(f"    {line}" for line in lines)])


def main(arguments: Sequence[str]) -> int:
    """Print it; 1 where no test ran."""
    folder, title = arguments
    parts = read(Path(folder))
    print(as_text(title, parts), flush=True)
    if any(one["passed"] or one["failed"] for runs in parts.values() for one in runs):
        return 0
    print(f"No test ran in {title}: none matches, or no part came to its end.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
