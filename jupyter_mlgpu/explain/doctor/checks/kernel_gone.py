"""A kernelspec may remain after its environment was deleted, and then its kernel cannot start.

Sources: jupyter/notebook#300 (a kernel whose interpreter is not there) and #1171.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Every kernel's Python exists")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a kernelspec names an interpreter that does not exist."""
    specs = known(facts.kernel.specs)
    gone = [one for one in specs if not known_or(one.exists, True)]
    if not gone:
        return Fine(say("Every kernel's Python exists, as far as is known."))
    listed = ", ".join(f"{one.name} ({known_or(one.interpreter, 'python')})" for one in gone)
    return Finding(
        title=say("A kernel cannot start: its Python no longer exists."),
        evidence=say("Interpreter not found: {names}.", names=listed),
        remedy=run("jupyter", "kernelspec", "remove", "-y", *(one.name for one in gone))
        + as_written("python -m ipykernel install --sys-prefix"),
        confidence="sure",
        cause=Cause.PYTHON,
    )
