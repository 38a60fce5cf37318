"""Front end and kernel of two versions do not understand each other.

Sources: jupyterlab/jupyterlab-git#923 and #861, StatCan/aaw-kubeflow-containers#93.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.explain.doctor.versions import release
from jupyter_mlgpu.record.sentence import say

TITLE = say("Both sides of jupyter_mlgpu are of one version")


def judge(facts: Facts) -> Verdict:
    """A finding where the front end's version is not the package's."""
    package, front = known(facts.jupyter.package), known(facts.jupyter.labextension)
    if front is None:
        return Skipped(say("There is no front end here."))
    if release(front) == release(package):
        return Fine(say("Package and front end are {version}.", version=package))
    return Finding(
        title=say("The front end in JupyterLab is of another version than the package."),
        evidence=say("The package is {package}, the front end {version}.", package=package, version=front),
        remedy=run("pip", "install", "--force-reinstall", "--no-deps", f"jupyter_mlgpu=={package}")
        + as_written("# Then restart JupyterLab and reload the page."),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
