"""A file of one's own with a package's name is imported in its place.

Source: jupyter/notebook#1971 (a `numpy.py` in the notebook's folder).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import Remedy, path, run

ID = "shadowed-package"
TITLE = "No file here hides a package"


def judge(facts: Facts) -> Verdict:
    """A finding where the current folder has such a file."""
    shadows = known(facts.python.shadows)
    if not shadows:
        return Fine("No file in this folder has the name of a well-known package.")
    return Finding(
        title="A file in this folder is imported instead of the package of its name.",
        evidence=f"Found here: {', '.join(shadows)}.",
        remedy=sum((run("mv", path(name), f"my_{name}") for name in shadows), Remedy()),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
