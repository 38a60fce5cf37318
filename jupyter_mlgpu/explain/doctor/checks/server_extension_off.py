"""Without the server extension, the page's requests fail with status 404.

Sources: jupyterlab/extension-examples#151, nteract/archived-desktop-app#2991.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The server extension is enabled")


def judge(facts: Facts) -> Verdict:
    """Return a finding if JupyterLab is installed here and no configuration enables our server extension."""
    if known(facts.jupyter.lab) is None:
        return Skipped(say("JupyterLab is not installed in this environment."))
    if known_or(facts.jupyter.labextension, "") is None:
        return Skipped(say("The front end is not installed here."))
    if known(facts.jupyter.server_extension):
        return Fine(say("The server extension is enabled."))
    return Finding(
        title=say("The jupyter_mlgpu server extension is not enabled, so the page's requests fail."),
        evidence=say("No jupyter_server_config enables jupyter_mlgpu."),
        remedy=as_written(
            "jupyter server extension enable --sys-prefix jupyter_mlgpu\n# Then restart JupyterLab."
        ),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
