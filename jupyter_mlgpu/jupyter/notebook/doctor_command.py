"""`%mlc_doctor`: the words typed, and this kernel's own Python judged."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, NoReturn

from jupyter_mlgpu.explain.doctor import light
from jupyter_mlgpu.explain.doctor.consult import consult, language_of
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.jupyter.notebook.doctor_light import captures
from jupyter_mlgpu.jupyter.notebook.progress import ProgressLine
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.show.doctor import page


def doctor_command(line: str, shell: Any) -> page.DiagnosisPage | None:
    """`%mlc_doctor LINE`: the page to show; None where it was printed as JSON or as a plan."""
    words = _parsed(line)
    language = words.language or language_of()
    shown = ProgressLine(shell)
    try:
        diagnosis = consult(
            facts_from=words.facts,
            save_to=words.save_facts,
            deep=words.deep,
            tell=lambda said: shown.say(translated(said, language)),
            inside=inside(shell),
        )
    finally:
        shown.clear()
    if words.save_facts is not None:
        print(f"The facts are in {words.save_facts}: read them before you send them to somebody.")
    if words.json:
        print(page.json_text(diagnosis))
    elif words.fix_plan:
        print(page.plan(diagnosis, language))
    else:
        return page.DiagnosisPage(diagnosis, language, words.all)
    return None


def inside(shell: Any) -> KernelsOwnFacts | None:
    """What a kernel knows of itself; None in a terminal."""
    if getattr(shell, "kernel", None) is None:
        return None
    return KernelsOwnFacts(light.CAPTURES[captures(shell.kernel)])


class _Words(argparse.ArgumentParser):
    """Says what is wrong with the line in one sentence, and never ends the kernel."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%mlc_doctor: {message}; `%mlc_doctor?` shows its options.")


def _parsed(line: str) -> argparse.Namespace:
    parser = _Words(prog="%mlc_doctor", add_help=False, allow_abbrev=False)
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--save-facts", type=Path)
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true")
    printed.add_argument("--fix-plan", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--language", choices=page.LANGUAGES)
    try:
        words = shlex.split(line, posix=sys.platform != "win32")
    except ValueError as error:
        raise UsageError(f"%mlc_doctor: a quotation mark stands alone in {line!r}.") from error
    return parser.parse_args(words)
