"""A PyTorch that was built without CUDA does not use an NVIDIA GPU.

Sources: X-PLUG/MobileAgent#60, XPixelGroup/HAT#85 ("Torch not compiled with CUDA enabled").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.remedies import as_written, run
from jupyter_mlgpu.record.sentence import say

TITLE = say("PyTorch was built for the NVIDIA GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding if torch was built without CUDA and there is an NVIDIA GPU."""
    (torch,) = installed(facts, "torch")
    nvidia.require_gpu(facts)
    build = known(facts.builds).get("torch")
    cuda = known(build.cuda) if build else None
    if cuda is not None:
        return Fine(say("PyTorch {version} was built for CUDA {cuda}.", version=torch.version, cuda=cuda))
    plain = torch.version.split("+")[0]
    return Finding(
        title=say("This PyTorch was built without CUDA, so it cannot use the NVIDIA GPU."),
        evidence=say(
            "PyTorch {version} was built without CUDA, but the machine has an NVIDIA GPU.",
            version=torch.version,
        ),
        remedy=as_written("pip uninstall -y torch")
        + run("pip", "install", "--no-cache-dir", f"torch=={plain}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
