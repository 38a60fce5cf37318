"""Data sets and weights are downloaded at their first use; without the network only kept ones are there.

Sources: keras-team/keras#10579 and #14089 ("URL fetch failure on ..."), modular/modular#329.
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import as_written, run

ID = "network"
TITLE = "Data and weights can be downloaded"


def judge(facts: Facts) -> Verdict:
    """A finding where a site that data come from does not answer."""
    silent = sorted(site for site, answers in known(facts.network).items() if not answers)
    if not silent:
        return Fine("The sites of data sets and weights answer.")
    kept = [one.name for one in known_or(facts.storage.caches, ()) if known_or(one.size, 0)]
    return Finding(
        title="Data sets or weights cannot be downloaded from here.",
        evidence=(
            f"No answer from {', '.join(silent)}."
            + (f" Only what is kept is there: {', '.join(kept)}." if kept else "")
        ),
        remedy=run("curl", "-I", f"https://{silent[0]}")
        + as_written("# Behind a proxy, before JupyterLab is started: export HTTPS_PROXY=http://PROXY:PORT"),
        confidence="likely",
        cause=Cause.MACHINE,
    )
