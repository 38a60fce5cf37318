"""The front end must be in JupyterLab's environment, which may differ from the kernel's.

Source: jupyter-widgets/ipywidgets#3577 (front end and kernel in two environments).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The front end is installed for JupyterLab")


def judge(facts: Facts) -> Verdict:
    """Return a finding if JupyterLab is installed here and our front end is not."""
    lab = known(facts.jupyter.lab)
    if lab is None:
        return Skipped(say("JupyterLab is not installed in this environment."))
    version = known(facts.jupyter.labextension)
    if version is not None:
        return Fine(say("JupyterLab is {lab}; the front end is {version}.", lab=lab, version=version))
    return Finding(
        title=say("JupyterLab lacks the jupyter_mlgpu front end: no sidebar, only plain receipts."),
        evidence=say("JupyterLab {version} does not find the jupyter-mlgpu extension.", version=lab),
        remedy=as_written("pip install --force-reinstall --no-deps jupyter_mlgpu\njupyter labextension list"),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
