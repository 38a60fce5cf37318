"""Without nvidia-ml-py, memory, power and other processes on the GPU cannot be read from NVIDIA's driver.

Source: nicolargo/glances#1480 (no GPU was shown until pynvml was installed).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The NVIDIA driver can be queried")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the driver is loaded and its Python package is not installed."""
    if not nvidia.on_bus(facts) or known(facts.gpus.kernel_module) is None:
        return Skipped(say("No NVIDIA GPU with a loaded driver was found."))
    package = known(facts.packages).get("nvidia-ml-py")
    if package is not None:
        return Fine(say("nvidia-ml-py is {version}.", version=package.version))
    return Finding(
        title=say("Receipts lack the GPU's memory and energy because its driver cannot be queried."),
        evidence=say("The NVIDIA driver is loaded, but nvidia-ml-py is not installed."),
        remedy=as_written("pip install nvidia-ml-py"),
        confidence="sure",
        cause=Cause.ADVICE,
    )
