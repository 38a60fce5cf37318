"""A PyTorch that was built without CUDA does not use an NVIDIA GPU.

Sources: X-PLUG/MobileAgent#60, XPixelGroup/HAT#85 ("Torch not compiled with CUDA enabled").
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import as_written, run

ID = "torch-cpu-build"
TITLE = "PyTorch was built for the NVIDIA GPU"


def judge(facts: Facts) -> Verdict:
    """A finding where torch has no CUDA in it and the machine has a GPU of NVIDIA's."""
    torch = known(facts.packages).get("torch")
    if torch is None:
        return Skipped("PyTorch is not installed.")
    if not nvidia.count(facts):
        return Skipped("There is no NVIDIA GPU.")
    build = known(facts.builds).get("torch")
    cuda = known(build.cuda) if build else None
    if cuda is not None:
        return Fine(f"PyTorch {torch.version} was built for CUDA {cuda}.")
    plain = torch.version.split("+")[0]
    return Finding(
        title="This PyTorch was built without CUDA, so it cannot use the NVIDIA GPU.",
        evidence=f"PyTorch is {torch.version}, built for no CUDA; the machine has an NVIDIA GPU.",
        remedy=as_written("pip uninstall -y torch")
        + run("pip", "install", "--no-cache-dir", f"torch=={plain}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
