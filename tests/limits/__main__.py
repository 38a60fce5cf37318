"""Asks the engine what limits planted programs, and marks its answers.

python -m tests.limits                                        # all that can run here
python -m tests.limits --only 'sleep-*' --framework python
python -m tests.limits --framework torch-cuda --json FILE     # on a machine with a GPU; needs no Jupyter
python -m tests.limits --ordinary                             # ordinary cells, beside their own profile
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from tests.limits.host_environment import host_environment

from jupyter_mlgpu.record.extras import installed
from tests.limits.judge import Judged, Question, Score, score
from tests.limits.ordinary import ORDINARY
from tests.limits.program import Program, matching
from tests.limits.programs import PROGRAMS
from tests.limits.runners import ask_all, ask_ordinary, runner_for

HEADINGS = ("program", "framework", "right is", "answered", "confidence", "share", "seconds", "")
_ROW = "{:46} {:11} {:26} {:11} {:10} {:>6} {:>7}  {}"


def row(question: Question, framework: str, against: str | None = None) -> str:
    """A line of the table: a question, what the engine said, and what is to be said against it."""
    answer = question.answer
    if question.kinds and question.mark == "wrong":
        against = "wrong"
    return _ROW.format(
        question.name,
        framework,
        " or ".join(question.right if question.kinds else ())[:26],
        answer.kind or "-",
        answer.confidence or "-",
        "-" if answer.share is None else f"{answer.share:.0%}",
        f"{answer.seconds:.2f}",
        f"{f'({against.upper()}) ' if against else ''}{answer.said}",
    ).rstrip()


def tell(program: Program, outcome: Judged | str) -> None:
    """Print what came of a program."""
    if isinstance(outcome, str):
        print(f"{program.id:46} {program.framework:11} {outcome}", flush=True)
        return
    for question in outcome.questions:
        print(row(question, program.framework), flush=True)
    if outcome.changed is False and not outcome.disturbed:
        print(f"{'':46} mended, and the answer is the same", flush=True)


def as_json(judged: Sequence[Judged], not_run: dict[str, str], total: Score) -> dict[str, Any]:
    """Everything, for docs/measurements."""
    return {
        "machine": host_environment(),
        "score": {**asdict(total), "failures": total.failures},
        "not_run": not_run,
        "programs": [
            {
                "id": one.program.id,
                "framework": one.program.framework,
                "kinds": one.program.kinds,
                "planted": asdict(one.planted),
                "mended_kinds": one.program.mended_kinds,
                "mended": asdict(one.mended) if one.mended is not None else None,
                "changed": one.changed,
                "disturbed": one.disturbed,
            }
            for one in judged
        ],
    }


def print_score(total: Score) -> None:
    """Print the figures that the issue asks for."""
    print()
    for what, figure in (
        ("right, of the sure and likely", _percent(total.right, total.answered)),
        ("the narrowest kind, of the right", _percent(total.precise, None)),
        ("open, of all questions", _percent(total.open, total.questions)),
        ("sure and wrong", str(len(total.wrong_sure))),
        ("mended, and the answer changed", f"{total.mended - len(total.unchanged)} of {total.mended}"),
        ("mended, and slower than its bound", f"{total.bounds - len(total.beyond)} of {total.bounds}"),
        ("others had the cores", str(len(total.disturbed))),
    ):
        print(f"{what:40} {figure}")
    for failure in total.failures:
        print(f"FAILED: {failure}")


def _percent(share: float | None, of: int | None) -> str:
    return "-" if share is None else f"{share:.1%}" + ("" if of is None else f" of {of}")


def ask_all_ordinary(only: str | None, framework: str | None, file: Path | None) -> int:
    """Ask ordinary cells, each in a kernel that has run no other; 1 where a profile contradicts an answer."""
    print(_ROW.format(*HEADINGS))
    told: list[dict[str, Any]] = []
    for ordinary in ORDINARY:
        if not fnmatch(ordinary.id, only or "*") or framework not in (None, ordinary.framework):
            continue
        if not installed(ordinary.framework):
            print(f"{ordinary.id:46} not run: {ordinary.framework} is not installed here", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder, runner_for(ordinary.framework, Path(folder)) as runner:
            answer, profile, against = ask_ordinary(runner, ordinary)
        print(row(Question(ordinary.id, (), answer), ordinary.framework, against), flush=True)
        told.append(
            {
                "id": ordinary.id,
                "answer": asdict(answer),
                "profile": asdict(profile),
                "contradicted": against,
            }
        )
    contradicted = [one["id"] for one in told if one["contradicted"] is not None]
    dark = sum(one["answer"]["explained"] <= 0.5 for one in told)
    print(f"\n{len(told)} ordinary cells, {len(contradicted)} contradicted by their own profile")
    print(f"{dark} leave half of their time or more unexplained")
    for name in contradicted:
        print(f"FAILED: {name}")
    if file is not None:
        data = {"machine": host_environment(), "contradicted": contradicted, "cells": told}
        file.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    return 1 if contradicted or not told else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print and keep; 0 where the engine passes."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prog="python -m tests.limits",
    )
    parser.add_argument("--only", metavar="GLOB", help="programs whose id matches")
    parser.add_argument("--framework", metavar="NAME", help="programs of this framework")
    parser.add_argument("--json", metavar="FILE", type=Path, help="keep everything in this file, too")
    parser.add_argument("--ordinary", action="store_true", help="ask ordinary cells, not planted programs")
    parser.add_argument("--script", action="store_true", help="without a kernel, as blocks of a script")
    options = parser.parse_args(arguments)
    if options.ordinary:
        return ask_all_ordinary(options.only, options.framework, options.json)
    programs = matching(PROGRAMS, options.only, options.framework)
    not_run: dict[str, str] = {}

    def told(program: Program, outcome: Judged | str) -> None:
        if isinstance(outcome, str):
            not_run[program.id] = outcome
        tell(program, outcome)

    print(_ROW.format(*HEADINGS))
    with tempfile.TemporaryDirectory() as folder:
        judged = ask_all(programs, Path(folder), told, script=options.script)
    total = score(judged)
    print_score(total)
    if options.json is not None:
        options.json.write_text(
            json.dumps(as_json(judged, not_run, total), indent=1) + "\n", encoding="utf-8"
        )
    failed = [name for name, reason in not_run.items() if reason.startswith("failed")]
    if failed:
        print(f"FAILED: cells of these programs: {', '.join(failed)}")
    return 1 if total.failures or failed else 0


if __name__ == "__main__":
    sys.exit(main())
