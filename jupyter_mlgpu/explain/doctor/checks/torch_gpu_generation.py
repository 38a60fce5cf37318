"""PyTorch's builds contain code only for certain generations of GPUs.

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
    """Return a finding if the build does not support the GPU's compute capability."""
    cuda = nvidia.cuda_of(facts, "torch")
    with_capability = [
        (gpu, capability) for gpu in nvidia.gpus(facts) if (capability := known(gpu.compute_capability))
    ]
    if cuda is None or not with_capability:
        return Skipped(say("PyTorch with CUDA and an NVIDIA GPU are not both present."))
    unsupported = [
        (gpu, capability) for gpu, capability in with_capability if not nvidia.built_for(capability, cuda)
    ]
    if not unsupported:
        return Fine(say("PyTorch was built for CUDA {cuda}.", cuda=cuda))
    gpu, capability = unsupported[0]
    suits = "cu126" if older(capability, "10.0") else "cu128"
    return Finding(
        title=say("This PyTorch does not support the GPU's generation: every operation on the GPU fails."),
        evidence=say(
            "{name} has compute capability {ability}; PyTorch was built for CUDA {cuda}.",
            name=known_or(gpu.name, say("The GPU")),
            ability=capability,
            cuda=cuda,
        ),
        remedy=run("uv", "pip", "install", "--reinstall", "torch", f"--torch-backend={suits}"),
        confidence="likely",
        cause=Cause.PACKAGES,
    )
