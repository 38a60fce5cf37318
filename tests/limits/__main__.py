"""Ask the engine what limits planted programs, and mark its answers.

python -m tests.limits                                        # all that can run here
python -m tests.limits --only 'sleep-*' --framework python
python -m tests.limits --framework torch-cuda --json FILE     # on a machine with a GPU; needs no Jupyter
python -m tests.limits --ordinary                             # ordinary cells, beside their own profile
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.limits import commandline
from tests.limits.contradicting import contradiction
from tests.limits.judge import Judged, Question, Score, score
from tests.limits.profiling import profile_of
from tests.limits.program import ORDINARY, PROGRAMS, Program, matching
from tests.limits.runners import ask_all, ask_ordinary

HEADINGS = ("program", "framework", "right is", "answered", "confidence", "share", "seconds", "")
_ROW = "{:46} {:11} {:26} {:11} {:10} {:>6} {:>7}  {}"


def row(question: Question, framework: str, against: str | None = None) -> str:
    """Return a line of the table: a question, the answer, and what speaks against it."""
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


def as_json(one: Judged) -> dict[str, Any]:
    """Return a program and its answers as JSON."""
    return {
        "id": one.program.id,
        "framework": one.program.framework,
        "kinds": one.program.kinds,
        "planted": asdict(one.planted),
        "mended_kinds": one.program.mended_kinds,
        "mended": asdict(one.mended) if one.mended is not None else None,
        "changed": one.changed,
        "disturbed": one.disturbed,
    }


def print_score(total: Score) -> None:
    """Print the figures that the exam is judged by."""
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


def _percent(share: float | None, of: int | None) -> str:
    return "-" if share is None else f"{share:.1%}" + ("" if of is None else f" of {of}")


def ask_planted(programs: Sequence[Program], file: Path | None, script: bool) -> list[str]:
    """Ask planted programs, in a kernel for each framework, and return in words what fails."""
    not_run: dict[str, str] = {}

    def told(program: Program, outcome: Judged | str) -> None:
        if isinstance(outcome, str):
            not_run[program.id] = outcome
        tell(program, outcome)

    with tempfile.TemporaryDirectory() as folder:
        judged = ask_all(programs, Path(folder), told, script=script)
    total = score(judged)
    print_score(total)
    results = {
        "score": {**asdict(total), "failures": total.failures},
        "not_run": not_run,
        "programs": [as_json(one) for one in judged],
    }
    commandline.keep(file, results)
    failed = [name for name, reason in not_run.items() if reason.startswith("failed")]
    return total.failures + ([f"cells of these programs: {', '.join(failed)}"] if failed else [])


def ask_all_ordinary(programs: Sequence[Program], file: Path | None) -> list[str]:
    """Ask ordinary cells, each in a fresh kernel, and return those that their profile contradicts."""
    told: list[dict[str, Any]] = []
    for ordinary in programs:
        if reason := ordinary.why_not_here():
            print(f"{ordinary.id:46} {reason}", flush=True)
            continue
        answer = ask_ordinary(ordinary)
        profile = profile_of(ordinary)
        against = contradiction(answer, profile)
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
    commandline.keep(file, {"contradicted": contradicted, "cells": told})
    return contradicted if told else ["no ordinary cell was asked"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Ask, print and keep; 0 where the engine passes."""
    parser = commandline.parser(__doc__, "tests.limits")
    parser.add_argument("--ordinary", action="store_true", help="ask ordinary cells, not planted programs")
    parser.add_argument("--script", action="store_true", help="without a kernel, as blocks of a script")
    options = parser.parse_args(arguments)
    print(_ROW.format(*HEADINGS))
    programs = matching(ORDINARY if options.ordinary else PROGRAMS, options.only, options.framework)
    if options.ordinary:
        failures = ask_all_ordinary(programs, options.json)
    else:
        failures = ask_planted(programs, options.json, options.script)
    for failure in failures:
        print(f"FAILED: {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
