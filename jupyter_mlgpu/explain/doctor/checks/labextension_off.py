"""A disabled lab extension is installed but not loaded: no sidebar, no receipts.

Sources: jupyterlab-contrib/jupyterlab-cell-flash#7 (disabled by another environment's configuration), elyra-
ai/elyra#3136.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import NOTHING, as_written, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("The front end is enabled in JupyterLab")
_NAME = "jupyter-mlgpu"


def judge(facts: Facts) -> Verdict:
    """Return a finding if our extension, or one of its plug-ins, is disabled."""
    off = [one for one in known(facts.jupyter.disabled) if one.split(":")[0] == _NAME]
    if not off:
        return Fine(say("The front end is not among the disabled extensions."))
    return Finding(
        title=say("The jupyter_mlgpu front end is disabled in JupyterLab."),
        evidence=say("Disabled in a page_config.json: {names}.", names=", ".join(off)),
        remedy=sum((run("jupyter", "labextension", "enable", one) for one in off), NOTHING)
        + as_written("# Then reload the page."),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
