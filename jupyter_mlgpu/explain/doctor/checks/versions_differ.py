"""Front end and kernel of two versions do not understand each other.

Sources: jupyterlab/jupyterlab-git#923 and #861, StatCan/aaw-kubeflow-containers#93.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import say

TITLE = say("The package and the front end have the same version")


def judge(facts: Facts) -> Verdict:
    """A finding where the front end's version is not the package's."""
    package, front = known(facts.jupyter.package), known(facts.jupyter.labextension)
    if front is None:
        return Skipped(say("The front end is not installed here."))
    if release(front) == release(package):
        return Fine(say("The package and the front end are both {version}.", version=package))
    return Finding(
        title=say("The front end in JupyterLab and the package have different versions."),
        evidence=say("The package is {package}; the front end is {version}.", package=package, version=front),
        remedy=run("pip", "install", "--force-reinstall", "--no-deps", f"jupyter_mlgpu=={package}")
        + as_written("# Then restart JupyterLab and reload the page."),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
