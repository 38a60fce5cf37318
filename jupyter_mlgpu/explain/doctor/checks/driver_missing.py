"""Without its driver, no framework can use an NVIDIA GPU.

Sources: tensorflow/tensorflow#40920 ("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA
driver"), mattshma/bigdata#133.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The NVIDIA GPU's driver is loaded")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the bus has an NVIDIA GPU and its driver's module is not loaded."""
    if not nvidia.on_bus(facts):
        return Skipped(say("The PCI bus shows no NVIDIA GPU."))
    if known_or(facts.machine.container, False):
        return Skipped(say("A container uses the host's driver."))
    if nvidia.gpus(facts) or known(facts.gpus.kernel_module) is not None:
        return Fine(say("The driver's module is loaded."))
    return Finding(
        title=say("The machine has an NVIDIA GPU, but its driver is not loaded."),
        evidence=say("The PCI bus shows an NVIDIA GPU, but its driver's kernel module is not loaded."),
        remedy=as_written("# On Ubuntu:\nsudo ubuntu-drivers install\nsudo reboot\nnvidia-smi"),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
