"""A framework whose import ends the process was built for another processor, or two libraries clash.

Sources: apple/tensorflow_macos#81 ("Illegal instruction: 4"), tensorflow/tensorflow#63495, jax-ml/jax#24901.
"""

from __future__ import annotations

from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or

ID = "framework-killed"
TITLE = "No framework ends the process"


def judge(facts: Facts) -> Verdict:
    """A finding where a signal ended the process that asked a framework."""
    killed = {
        name: signal
        for name, answer in sorted(known(facts.frameworks).items())
        if (signal := known_or(answer.signal, None))
    }
    if not killed:
        return Fine("Each was imported, or refused with an error.")
    packages = known(facts.packages)
    pinned = " ".join(f"{name}=={packages[name].version}" if name in packages else name for name in killed)
    return Finding(
        title="Importing a framework ends the kernel.",
        evidence=" ".join(f"{name} ended with {signal}." for name, signal in killed.items()),
        remedy=(
            "# In a fresh environment, where nothing can clash:\n"
            f"python -m venv ~/mlgpu\n~/mlgpu/bin/pip install {pinned}"
        ),
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )
