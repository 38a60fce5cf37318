"""What the planted programs spend their time on, seen without us, by other clocks.

    python -m tests.limits.verify --framework numpy --only 'sleep-*'

A program whose share is under 60 % is no fair question.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import types
from collections.abc import Sequence
from contextlib import nullcontext

from tests.limits.cells import Cells
from tests.limits.clocks import clock_of, without
from tests.limits.load import beside
from tests.limits.program import Program, matching
from tests.limits.programs import PROGRAMS

#: The part of its time that a program has to spend on its cause.
FAIR = 0.6


def measured(program: Program) -> dict[str, object]:
    """Run a program in this process; its seconds, and the part of them that its cause took."""
    cells = Cells()
    for setup in program.before:
        cells.run(setup)
    clock, ready = clock_of(program, cells.names), cells.compiled(program.code)
    with beside(program.load), clock:
        seconds = timed(cells, ready)
    share = clock.share(seconds)
    word, _, targets = program.clock.partition(" ")
    if word in ("again", "without"):
        with without(targets, cells.names) if word == "without" else nullcontext():
            share = 1 - timed(cells, ready) / seconds
    after: float | None = None
    if program.mended is not None:
        for setup in program.mended_before:
            cells.run(setup)
        after = timed(cells, cells.compiled(program.mended))
    if program.clock == "mended":
        assert after is not None, program.id
        share = 1 - after / seconds
    return {"id": program.id, "seconds": seconds, "share": share, "mended": after}


def timed(cells: Cells, code: types.CodeType) -> float:
    """Seconds that a cell takes."""
    begun = time.perf_counter()
    cells.run(code)
    return time.perf_counter() - begun


def in_processes(programs: Sequence[Program]) -> list[dict[str, object]]:
    """Measure each framework's programs in a process of its own."""
    results: list[dict[str, object]] = []
    for framework in dict.fromkeys(program.framework for program in programs):
        mine = [program for program in programs if program.framework == framework]
        here = [program for program in mine if program.why_not_here() is None]
        for program in mine:
            if reason := program.why_not_here():
                print(f"{program.id:44} {reason}")
        words = [word for program in here for word in ("--here", program.id)]
        command = [sys.executable, "-m", "tests.limits.verify", "--framework", framework, *words]
        if here:
            results += _told(command)
    return results


def _told(command: Sequence[str]) -> list[dict[str, object]]:
    """Results of another process, a line each; what the cells print is left out."""
    results = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(_MARK):
                results.append(json.loads(line.removeprefix(_MARK)))
                _print(results[-1])
    if process.returncode:
        raise SystemExit(f"A program failed; its traceback is above. ({process.returncode})")
    return results


_MARK = "verified: "


def _print(result: dict[str, object]) -> None:
    share = result["share"]
    assert isinstance(share, float | None)
    told = "not known here" if share is None else f"{share:7.1%}"
    fair = "" if share is None or share >= FAIR else "  under 60 %: no fair question"
    mended = "" if result["mended"] is None else f"  mended {result['mended']:6.2f} s"
    print(f"{result['id']:44} {result['seconds']:6.2f} s {told}{mended}{fair}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print each program's share; 1 where one is under 60 %."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", help="programs whose id matches, as 'sleep-*'")
    parser.add_argument("--framework", help="programs of this framework")
    parser.add_argument("--json", help="keep the results in this file, too")
    parser.add_argument("--here", action="append", default=[], help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    programs = matching(PROGRAMS, options.only, options.framework)
    if options.here:
        for program in programs:
            if program.id in options.here:
                print(f"\n{_MARK}{json.dumps(measured(program))}", flush=True)
        return 0
    results = in_processes(programs)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    shares = [one["share"] for one in results]
    unfair = [share for share in shares if isinstance(share, float) and share < FAIR]
    print(f"{len(results)} programs, {len(unfair)} of them under {FAIR:.0%}")
    return 1 if unfair or not results else 0


if __name__ == "__main__":
    sys.exit(main())
