"""`%mlc_doctor`: the words typed, and this kernel's own Python judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_mlgpu.explain.doctor import light
from jupyter_mlgpu.explain.doctor.consult import consult, language_of
from jupyter_mlgpu.explain.doctor.gather.kernels import KernelsOwnFacts
from jupyter_mlgpu.jupyter.notebook.browser.doctor_light import captures
from jupyter_mlgpu.jupyter.notebook.magics.progress import ProgressLine
from jupyter_mlgpu.record.errors import UsageError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.record.translation import translated
from jupyter_mlgpu.record.visible import visible_line
from jupyter_mlgpu.record.words import typed, unknown
from jupyter_mlgpu.show.doctor import page

_HELP = say("`%mlc_doctor?` shows its options.")
_WITH_VALUE = ("--facts", "--save-facts", "--language")
_FLAGS = ("--deep", "--json", "--fix-plan", "--all")


def doctor_command(line: str, shell: Any) -> page.DiagnosisPage | None:
    """`%mlc_doctor LINE`: the page to show; None where it was printed as JSON or as a plan."""
    asked = typed(line, "%mlc_doctor", _HELP, values=_WITH_VALUE, flags=_FLAGS, places=False).options
    language = asked.get("--language") or language_of()
    if language not in page.LANGUAGES:
        raise UsageError(unknown(say("language"), language, page.LANGUAGES, "--language"))
    if "--json" in asked and "--fix-plan" in asked:
        raise UsageError(say("--json and --fix-plan cannot be combined: choose one."))
    facts, saved = (Path(asked[name]) if name in asked else None for name in ("--facts", "--save-facts"))
    shown = ProgressLine(shell)
    try:
        diagnosis = consult(
            facts_from=facts,
            save_to=saved,
            deep="--deep" in asked,
            tell=lambda said: shown.say(translated(said, language)),
            inside=inside(shell),
        )
    finally:
        shown.clear()
    if saved is not None:
        print(f"The facts are in {visible_line(saved)}: read them before you send them to anyone.")
    if "--json" in asked:
        print(page.json_text(diagnosis))
    elif "--fix-plan" in asked:
        print(page.plan(diagnosis, language))
    else:
        return page.DiagnosisPage(diagnosis, language, "--all" in asked)
    return None


def inside(shell: Any) -> KernelsOwnFacts | None:
    """What a kernel knows of itself; None in a terminal."""
    if getattr(shell, "kernel", None) is None:
        return None
    return KernelsOwnFacts(light.CAPTURES[captures(shell.kernel)])
