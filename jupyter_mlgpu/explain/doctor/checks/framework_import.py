"""If an installed framework cannot be imported, its traceback says why.

Sources: tensorflow/tensorflow#62825, tensorflow/tensorflow#51699 (module 'gast' has no attribute 'Index').
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.loading import loaders_line
from jupyter_mlgpu.explain.doctor.remedies import as_written, pinned, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("Every framework can be imported")


def judge(facts: Facts) -> Verdict:
    """Return a finding if an import failed with an error that does not come from the loader."""
    packages = known(facts.packages)
    for name, answer in sorted(known(facts.frameworks).items()):
        error = (known_or(answer.error, None) or "").strip()
        if known_or(answer.imported, True) or known_or(answer.signal, None):
            continue
        if not error or loaders_line(error) is not None:
            continue
        return Finding(
            title=say("{name} is installed but cannot be imported.", name=name),
            evidence=say("The error was: {said}", said=error.splitlines()[-1][:300]),
            remedy=run("pip", "install", "--force-reinstall", *pinned([name], packages))
            + as_written("pip check"),
            confidence="likely",
            cause=Cause.FRAMEWORKS,
        )
    return Fine(say("Each framework that was tested was imported."))
