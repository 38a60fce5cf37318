"""A kernel that runs another Python cannot import the packages that were installed into this one.

Sources: jupyter/notebook#2359 and #397 ("the path for calling python will probably point to the wrong
environment").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import say

TITLE = say("Notebooks run the Python that has the packages")


def judge(facts: Facts) -> Verdict:
    """Return a finding if no kernel runs this Python, and the first kernel lacks packages that it has."""
    specs = [
        one
        for one in known(facts.kernel.specs)
        if known_or(one.exists, True) and "ipykernel" in known_or(one.has, {})
    ]
    if not specs:
        return Skipped(say("No kernel's Python could be inspected."))
    if any(known_or(one.same, False) for one in specs):
        return Fine(say("A kernel runs this Python."))
    packages = known(facts.packages)
    names = (*registry.FRAMEWORKS, "keras", "numpy", "jupyter-mlgpu")
    lacks = [name for name in names if name in packages and name not in known_or(specs[0].has, {})]
    if not lacks:
        return Fine(say("The kernel {name} has the packages that this Python has.", name=specs[0].name))
    return Finding(
        title=say("Notebooks do not run the Python that has the packages."),
        evidence=(
            say(
                "The kernel {name} runs {python}, which lacks {packages}; this Python is {here}.",
                name=specs[0].name,
                python=known_or(specs[0].interpreter, "python"),
                packages=", ".join(lacks),
                here=known_or(facts.python.executable, "python"),
            )
        ),
        remedy=as_written('python -m ipykernel install --user --name mlgpu --display-name "Python (mlgpu)"'),
        confidence="sure",
        cause=Cause.PYTHON,
    )
