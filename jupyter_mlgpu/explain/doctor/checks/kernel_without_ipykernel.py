"""A kernel's own Python must have ipykernel; the server's ipykernel does not count.

Sources: jupyter/notebook#1558 ("No module named ipykernel"), ipython/ipython#9896.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.maybe import Unknown
from jupyter_mlgpu.explain.doctor.remedies import path, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Every kernel's Python has ipykernel")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a kernelspec's Python exists but lacks ipykernel."""
    lacking = [
        one
        for one in known(facts.kernel.specs)
        if known_or(one.exists, False) and not isinstance(one.has, Unknown) and "ipykernel" not in one.has
    ]
    if not lacking:
        return Fine(say("Every kernel that could be inspected has ipykernel."))
    python = known_or(lacking[0].interpreter, "python")
    return Finding(
        title=say("A kernel cannot start: ipykernel is not installed in its Python."),
        evidence=say(
            "The kernel {name} runs {python}, where ipykernel is not installed.",
            name=lacking[0].name,
            python=python,
        ),
        remedy=run(path(python), "-m", "pip", "install", "ipykernel"),
        confidence="sure",
        cause=Cause.PYTHON,
    )
