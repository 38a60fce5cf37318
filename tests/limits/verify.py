"""Check with other clocks that planted programs spend their time on their cause.

    python -m tests.limits.verify --framework numpy --only 'sleep-*'

A program whose share is under 60 % is no fair question.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.limits import commandline
from tests.limits.cells import in_a_fresh_process
from tests.limits.clocks import measured
from tests.limits.program import PROGRAMS, Program, matching

#: The part of its time that a program has to spend on its cause.
FAIR = 0.6


def in_processes(programs: Sequence[Program]) -> list[dict[str, object]]:
    """Measure each framework's programs in a process of its own."""
    results: list[dict[str, object]] = []
    for framework in dict.fromkeys(program.framework for program in programs):
        here = []
        for program in programs:
            if program.framework != framework:
                continue
            if reason := program.why_not_here():
                print(f"{program.id:44} {reason}")
            else:
                here.append(program)
        for result in in_a_fresh_process(measured, here):
            results.append(result)
            _print(result)
    return results


def _print(result: dict[str, object]) -> None:
    share = result["share"]
    assert isinstance(share, float | None)
    told = "not known here" if share is None else f"{share:7.1%}"
    fair = "" if share is None or share >= FAIR else "  under 60 %: no fair question"
    mended = "" if result["mended"] is None else f"  mended {result['mended']:6.2f} s"
    print(f"{result['id']:44} {result['seconds']:6.2f} s {told}{mended}{fair}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each program's share; 1 where one is under 60 %."""
    parser = commandline.parser(__doc__, "tests.limits.verify")
    options = parser.parse_args(arguments)
    results = in_processes(matching(PROGRAMS, options.only, options.framework))
    commandline.keep(options.json, {"programs": results})
    shares = [one["share"] for one in results]
    unfair = [share for share in shares if isinstance(share, float) and share < FAIR]
    print(f"{len(results)} programs, {len(unfair)} of them under {FAIR:.0%}")
    return 1 if unfair or not results else 0


if __name__ == "__main__":
    sys.exit(main())
