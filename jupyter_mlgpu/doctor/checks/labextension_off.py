"""A disabled lab extension is installed and not loaded: no sidebar, no receipts.

Sources: jupyterlab-contrib/jupyterlab-cell-flash#7 (disabled by another environment's configuration), elyra-
ai/elyra#3136.
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import Remedy, as_written, run

ID = "labextension-off"
TITLE = "The front end is enabled in JupyterLab"
_NAME = "jupyter-mlgpu"


def judge(facts: Facts) -> Verdict:
    """A finding where ours, or one of its plug-ins, is among the disabled extensions."""
    off = [one for one in known(facts.jupyter.disabled) if one.split(":")[0] == _NAME]
    if not off:
        return Fine("The front end is not among the disabled extensions.")
    return Finding(
        title="The front end of jupyter_mlgpu is disabled in JupyterLab.",
        evidence=f"Disabled by a page_config.json: {', '.join(off)}.",
        remedy=sum((run("jupyter", "labextension", "enable", one) for one in off), Remedy())
        + as_written("# Then reload the page."),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
