"""`%mlc_doctor`: parses the options and examines this kernel's own Python."""

from __future__ import annotations

from typing import Any

from jupyter_mlgpu.explain.doctor import light
from jupyter_mlgpu.explain.doctor.consult import consult, language_of
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.jupyter.cli.doctor import add_arguments
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import captures
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.record.option_parser import magic_parser
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.show.doctor import page

_HELP = say("`%mlc_doctor?` shows its options.")


def doctor_command(line: str, shell: Any) -> page.DiagnosisPage | None:
    """Run `%mlc_doctor LINE`; return the page to show, or None after printing JSON or a plan."""
    parser = magic_parser("%mlc_doctor", _HELP)
    add_arguments(parser)
    arguments = parser.parse_line(line)
    language = arguments.language or language_of()
    progress = ProgressLine(shell)
    try:
        diagnosis = consult(
            facts_from=arguments.facts,
            save_to=arguments.save_facts,
            deep=arguments.deep,
            tell=lambda sentence: progress.say(translated(sentence, language)),
            inside=inside(shell),
        )
    finally:
        progress.clear()
    if arguments.save_facts is not None:
        saved = visible_line(arguments.save_facts)
        print(f"The facts are in {saved}: read them before you send them to anyone.")
    if arguments.json:
        print(page.json_text(diagnosis))
    elif arguments.fix_plan:
        print(page.plan(diagnosis, language))
    else:
        return page.DiagnosisPage(diagnosis, language, arguments.all)
    return None


def inside(shell: Any) -> KernelsOwnFacts | None:
    """Return facts that only the kernel itself knows, or None in a terminal."""
    if getattr(shell, "kernel", None) is None:
        return None
    return KernelsOwnFacts(light.CAPTURES[captures(shell.kernel)])
