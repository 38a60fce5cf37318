"""Find out what is wrong with this machine's setup, how we know, and what to do. Repairs nothing itself."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from jupyter_mlgpu.explain.doctor.consult import consult, language_of, silent
from jupyter_mlgpu.explain.doctor.diagnose import Diagnosis
from jupyter_mlgpu.jupyter.cli.terminal import until_nobody_reads
from jupyter_mlgpu.record.sentence import Sentence
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.doctor import page

EXAMPLE = """\
examples:
  jupyter mlgpu doctor                            what is wrong here, in a few seconds
  jupyter mlgpu doctor --deep                     also query each framework; takes up to a minute
  jupyter mlgpu doctor --fix-plan                 only the commands that would fix it
  jupyter mlgpu doctor --save-facts facts.json    for someone who helps you remotely
  jupyter mlgpu doctor --facts facts.json         what is wrong on that machine

Run it in the terminal, and with the Python, from which you start Jupyter; in a notebook, %mlc_doctor
checks the kernel's own Python. Facts contain no user names, host names or tokens.

exit status: 0 no problem was found, 1 a problem was found, 2 the doctor failed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `jupyter mlgpu doctor`."""
    every_day = parser.add_argument_group("every day")
    every_day.add_argument(
        "--deep", action="store_true", help="also query each framework in its own process, and the network"
    )
    more = parser.add_argument_group("more")
    more.add_argument(
        "--facts", type=Path, metavar="FILE", help="diagnose the machine described in this file"
    )
    more.add_argument("--save-facts", type=Path, metavar="FILE", help="save the facts, redacted, to a file")
    printed = more.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="one JSON object, findings first")
    printed.add_argument("--fix-plan", action="store_true", help="print the fixes as shell commands")
    more.add_argument(
        "--all", action="store_true", help="also show what is fine, and what could not be judged"
    )
    more.add_argument(
        "--language",
        choices=page.LANGUAGES,
        help="English or Chinese (default: from the environment); JSON is always in English",
    )


def main(arguments: argparse.Namespace) -> int:
    """Run the doctor and print the diagnosis; return 0 if nothing was found, else 1."""
    if hasattr(sys.stdout, "reconfigure"):  # escape characters that the terminal's encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    diagnosis = _with_progress(arguments) if arguments.deep else _consult(arguments)
    with until_nobody_reads():
        print(_rendered(diagnosis, arguments), flush=True)
    if arguments.save_facts is not None:
        saved = visible_line(arguments.save_facts)
        print(f"The facts are in {saved}: read them before you send them to anyone.", file=sys.stderr)
    return 0 if diagnosis.healthy else 1


def _rendered(diagnosis: Diagnosis, arguments: argparse.Namespace) -> str:
    language = _language(arguments)
    if arguments.json:
        return page.json_text(diagnosis)
    if arguments.fix_plan:
        return page.plan(diagnosis, language)
    return page.text(diagnosis, language, all_checks=arguments.all)


def _language(arguments: argparse.Namespace) -> str:
    return str(arguments.language or language_of())


def _with_progress(arguments: argparse.Namespace) -> Diagnosis:
    from jupyter_mlgpu.jupyter.cli.progress import progress

    language, display = _language(arguments), progress()
    try:
        return _consult(arguments, lambda sentence: display.say(translated(sentence, language)))
    finally:
        display.close()


def _consult(arguments: argparse.Namespace, tell: Callable[[Sentence], None] = silent) -> Diagnosis:
    return consult(facts_from=arguments.facts, save_to=arguments.save_facts, deep=arguments.deep, tell=tell)
