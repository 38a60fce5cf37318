"""A file with a package's name in the current folder is imported instead of the package.

Source: jupyter/notebook#1971 (a `numpy.py` in the notebook's folder).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import NOTHING, path, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("No file here hides a package")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the current folder has such a file."""
    shadows = known(facts.python.shadows)
    if not shadows:
        return Fine(say("No file in this folder has the name of a well-known package."))
    return Finding(
        title=say("A file in this folder is imported instead of the package with the same name."),
        evidence=say("Found here: {names}.", names=", ".join(shadows)),
        remedy=sum((run("mv", path(name), f"my_{name}") for name in shadows), NOTHING),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
