"""TensorFlow's and JAX's builds for x86_64 use AVX; without it they end with "Illegal instruction".

Sources: tensorflow/tensorflow#46496, #62342 and #6896.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The processor supports the instructions that frameworks need")


def judge(facts: Facts) -> Verdict:
    """Return a finding if an x86_64 processor lacks AVX, and TensorFlow or jaxlib is installed."""
    if known(facts.machine.architecture) != "x86_64":
        return Skipped(say("The processor is not x86-64."))
    frameworks = [name for name in ("tensorflow", "jaxlib") if name in known(facts.packages)]
    if not frameworks:
        return Skipped(say("Neither TensorFlow nor JAX is installed."))
    if "avx" in known(facts.machine.cpu_features):
        return Fine(say("The processor supports AVX."))
    return Finding(
        title=say(
            "This processor lacks AVX, which TensorFlow and JAX need: importing them crashes the kernel."
        ),
        evidence=say(
            "The processor's features do not include AVX; installed: {names}.", names=", ".join(frameworks)
        ),
        remedy=as_written(
            "# PyTorch's own build does without:\npip install torch\nexport KERAS_BACKEND=torch"
        )
        + FROM_THIS_SHELL,
        confidence="sure",
        cause=Cause.MACHINE,
    )
