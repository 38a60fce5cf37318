"""Without nvidia-ml-py nobody here can ask NVIDIA's driver for memory, power and what else runs on the GPU.

Source: nicolargo/glances#1480 (no GPU was shown until pynvml was installed).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("NVIDIA's driver can be asked")


def judge(facts: Facts) -> Verdict:
    """A finding where the driver is loaded and its Python package is not installed."""
    if not nvidia.on_bus(facts) or known(facts.gpus.kernel_module) is None:
        return Skipped(say("There is no NVIDIA GPU with its driver."))
    package = known(facts.packages).get("nvidia-ml-py")
    if package is not None:
        return Fine(say("nvidia-ml-py is {version}.", version=package.version))
    return Finding(
        title=say("Receipts lack the GPU's memory and energy: its driver cannot be asked."),
        evidence=say("NVIDIA's driver is loaded, and nvidia-ml-py is not installed."),
        remedy=as_written("pip install nvidia-ml-py"),
        confidence="sure",
        cause=Cause.ADVICE,
    )
