"""JupyterLab shows no saved HTML, charts or receipts of a notebook that it does not trust.

Sources: jupyterlab/jupyterlab#9855 and #15467, #14348.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, path, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Saved outputs are trusted")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a notebook with rich saved outputs is not trusted."""
    hidden = [
        one.name
        for one in known(facts.notebooks)
        if known_or(one.rich, False) and not known_or(one.trusted, True)
    ]
    if not hidden:
        return Fine(say("No notebook here has hidden saved outputs."))
    return Finding(
        title=say("A notebook's saved outputs are not shown because it is not trusted."),
        evidence=say("Not trusted, and with rich saved outputs: {names}.", names=", ".join(hidden)),
        remedy=sum(
            (run("jupyter", "trust", path(name)) for name in hidden),
            as_written("# If you know where it comes from:"),
        ),
        confidence="sure",
        cause=Cause.JUPYTER,
    )
