"""Data sets and weights are downloaded at their first use; without the network, only cached ones work.

Sources: keras-team/keras#10579 and #14089 ("URL fetch failure on ..."), modular/modular#329.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("Data and weights can be downloaded")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a site for data sets or weights does not answer."""
    silent = sorted(site for site, answers in known(facts.network).items() if not answers)
    if not silent:
        return Fine(say("The sites for data sets and weights respond."))
    cached = [one.name for one in known_or(facts.storage.caches, ()) if known_or(one.size, 0)]
    evidence = say("No response from {sites}.", sites=", ".join(silent))
    return Finding(
        title=say("Data sets or weights cannot be downloaded from here."),
        evidence=joined(evidence, say("Only cached data is available: {names}.", names=", ".join(cached)))
        if cached
        else evidence,
        remedy=run("curl", "-I", f"https://{silent[0]}")
        + as_written("# Behind a proxy, before JupyterLab is started: export HTTPS_PROXY=http://PROXY:PORT"),
        confidence="likely",
        cause=Cause.MACHINE,
    )
