"""PyTorch's CUDA libraries come as wheels of exact versions; another one of them breaks its import.

Sources: pytorch/pytorch#111469 and #134929 ("undefined symbol: __nvJitLinkComplete_12_4, version
libnvJitLink.so.12"), NVIDIA/tensorflow#110 (libcusolver without its libnvJitLink).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import joined, say, say_count

TITLE = say("PyTorch has the CUDA wheels it requires")


def judge(facts: Facts) -> Verdict:
    """Return a finding if a CUDA wheel that PyTorch requires, except cuDNN, is missing or older."""
    packages = known(facts.packages)
    if "torch" not in packages or not nvidia.count(facts):
        return Skipped(say("PyTorch and an NVIDIA GPU are not both present."))
    pinned = {name: wanted for name, wanted in nvidia.pins(packages["torch"]).items() if "cudnn" not in name}
    lacking = [
        name
        for name, wanted in pinned.items()
        if name not in packages or older(packages[name].version, wanted)
    ]
    if not lacking:
        return Fine(
            say_count(
                "The {count} CUDA wheel that PyTorch requires is installed.",
                "The {count} CUDA wheels that PyTorch requires are installed.",
                len(pinned),
            )
        )
    listed = [
        say(
            "{name} is {version}; PyTorch requires {wanted}.",
            name=name,
            version=packages[name].version,
            wanted=pinned[name],
        )
        if name in packages
        else say("{name} is missing.", name=name)
        for name in lacking
    ]
    return Finding(
        title=say("A CUDA library is missing or older than PyTorch needs, so importing PyTorch fails."),
        evidence=joined(*listed),
        remedy=run("pip", "install", *(f"{name}=={pinned[name]}" for name in lacking)),
        confidence="sure",
        cause=Cause.DRIVERS,
    )
