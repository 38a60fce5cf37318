"""PyTorch's builds hold code for certain generations of GPUs only.

Sources: pytorch/pytorch#150733 (sm_120 with CUDA before 12.8), bnsreenu/digitalsreeni-image-annotator#57
(sm_61), pytorch/pytorch#172352 (the support matrix).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.explain.doctor.versions import older
from jupyter_mlgpu.record.sentence import say

TITLE = say("PyTorch supports this GPU's generation")


def judge(facts: Facts) -> Verdict:
    """A finding where the GPU's compute capability is outside of what the build serves."""
    cuda = nvidia.cuda_of(facts, "torch")
    capable = [(gpu, ability) for gpu in nvidia.gpus(facts) if (ability := known(gpu.compute_capability))]
    if cuda is None or not capable:
        return Skipped(say("PyTorch with CUDA and an NVIDIA GPU are not both present."))
    unserved = [(gpu, ability) for gpu, ability in capable if not nvidia.built_for(ability, cuda)]
    if not unserved:
        return Fine(say("PyTorch was built for CUDA {cuda}.", cuda=cuda))
    gpu, ability = unserved[0]
    suits = "cu126" if older(ability, "10.0") else "cu128"
    return Finding(
        title=say("This PyTorch does not support the GPU's generation: every operation on the GPU fails."),
        evidence=say(
            "{name} has compute capability {ability}; PyTorch was built for CUDA {cuda}.",
            name=known_or(gpu.name, say("The GPU")),
            ability=ability,
            cuda=cuda,
        ),
        remedy=run("uv", "pip", "install", "--reinstall", "torch", f"--torch-backend={suits}"),
        confidence="likely",
        cause=Cause.PACKAGES,
    )
