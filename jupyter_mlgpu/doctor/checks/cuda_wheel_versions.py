"""PyTorch's CUDA libraries come as wheels of exact versions; another one of them breaks its import.

Sources: pytorch/pytorch#111469 and #134929 ("undefined symbol: __nvJitLinkComplete_12_4, version
libnvJitLink.so.12"), NVIDIA/tensorflow#110 (libcusolver without its libnvJitLink).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import run
from jupyter_mlgpu.doctor.versions import older

ID = "cuda-wheel-versions"
TITLE = "PyTorch has the CUDA wheels that it was built with"


def judge(facts: Facts) -> Verdict:
    """A finding where a CUDA wheel that PyTorch names is missing or older; cuDNN has a check of its own."""
    packages = known(facts.packages)
    if "torch" not in packages or not nvidia.count(facts):
        return Skipped("There is no PyTorch beside an NVIDIA GPU.")
    pinned = {name: wanted for name, wanted in nvidia.pins(packages["torch"]).items() if "cudnn" not in name}
    lacking = [
        name
        for name, wanted in pinned.items()
        if name not in packages or older(packages[name].version, wanted)
    ]
    if not lacking:
        return Fine(f"Of the CUDA wheels that PyTorch names {len(pinned)} are there.")
    listed = [
        f"{name} is {packages[name].version}, PyTorch names {pinned[name]}."
        if name in packages
        else f"{name} is missing."
        for name in lacking
    ]
    return Finding(
        title="A CUDA library is missing or older than PyTorch needs, so its import fails.",
        evidence=" ".join(listed),
        remedy=run("pip", "install", *(f"{name}=={pinned[name]}" for name in lacking)),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
