"""`%mlc_doctor`: the words typed, and this kernel's own Python judged."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.explain.doctor import light
from jupyter_mlgpu.explain.doctor.consult import consult, language_of
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.jupyter.cli.doctor import add_arguments
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import captures
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.record.words import magic_parser
from jupyter_mlgpu.show.doctor import page

_HELP = say("`%mlc_doctor?` shows its options.")


def doctor_command(line: str, shell: Any) -> page.DiagnosisPage | None:
    """`%mlc_doctor LINE`: the page to show; None where it was printed as JSON or as a plan."""
    parser = magic_parser("%mlc_doctor", _HELP)
    add_arguments(parser)
    asked = parser.parse_line(line)
    language = asked.language or language_of()
    shown = ProgressLine(shell)
    try:
        diagnosis = consult(
            facts_from=asked.facts,
            save_to=asked.save_facts,
            deep=asked.deep,
            tell=lambda said: shown.say(translated(said, language)),
            inside=inside(shell),
        )
    finally:
        shown.clear()
    if asked.save_facts is not None:
        print(f"The facts are in {visible_line(asked.save_facts)}: read them before you send them to anyone.")
    if asked.json:
        print(page.json_text(diagnosis))
    elif asked.fix_plan:
        print(page.plan(diagnosis, language))
    else:
        return page.DiagnosisPage(diagnosis, language, asked.all)
    return None


def inside(shell: Any) -> KernelsOwnFacts | None:
    """What a kernel knows of itself; None in a terminal."""
    if getattr(shell, "kernel", None) is None:
        return None
    return KernelsOwnFacts(light.CAPTURES[captures(shell.kernel)])
