"""A container shows the GPU's hardware, but has its device file only if it was started with the GPU.

Sources: NVIDIA/nvidia-docker#1330 ("/dev/nvidia0 does not exist"), abetlen/llama-cpp-python#1882.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("The container was started with the GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding in a container without the device file of an NVIDIA GPU that is on the bus."""
    if not known(facts.machine.container):
        return Skipped(say("This is not a container."))
    if not nvidia.on_bus(facts):
        return Skipped(say("The PCI bus shows no NVIDIA GPU."))
    if known(facts.gpus.device_files) != "absent":
        return Fine(say("The container has the GPU's device file."))
    return Finding(
        title=say("This container was started without the machine's GPU."),
        evidence=say("The PCI bus shows an NVIDIA GPU, but the container has no /dev/nvidia0."),
        remedy=as_written("# Outside of the container: docker run --gpus all IMAGE"),
        confidence="likely",
        cause=Cause.DRIVERS,
    )
