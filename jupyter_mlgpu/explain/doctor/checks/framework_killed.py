"""If importing a framework kills the process, it was built for another processor, or two libraries clash.

Sources: apple/tensorflow_macos#81 ("Illegal instruction: 4"), tensorflow/tensorflow#63495, jax-ml/jax#24901.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written, path, pinned, run
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("No framework crashes on import")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a signal killed the process that imported a framework."""
    killed = {
        name: signal
        for name, answer in sorted(known(facts.frameworks).items())
        if (signal := known_or(answer.signal, None))
    }
    if not killed:
        return Fine(say("Each framework was imported or failed with an error."))
    packages = known(facts.packages)
    return Finding(
        title=say("Importing a framework kills the kernel."),
        evidence=joined(
            *(say("{name} ended with {signal}.", name=name, signal=signal) for name, signal in killed.items())
        ),
        remedy=as_written("# In a fresh environment, where nothing can clash:\npython -m venv ~/mlgpu")
        + run(path("~/mlgpu/bin/pip"), "install", *pinned(killed, packages)),
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )
