"""Without its CUDA plug-in, JAX computes on the CPU even if there is an NVIDIA GPU.

Sources: JeffSHF/ColabDock#28, sashakolpakov/dire-jax#14 ("An NVIDIA GPU may be present on this machine, but a
CUDA-enabled jaxlib is not installed").
"""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.remedies import run
from jupyter_mlgpu.record.sentence import say

TITLE = say("JAX can use the NVIDIA GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding if jax has no CUDA plug-in, jaxlib no CUDA, and there is an NVIDIA GPU."""
    packages = known(facts.packages)
    installed(facts, "jax")
    nvidia.require_gpu(facts)
    plugins = [name for name in sorted(packages) if re.fullmatch(r"jax-cuda\d+-plugin", name)]
    jaxlib = packages.get("jaxlib")
    # Before 0.4.26 CUDA was part of jaxlib itself: 0.4.14+cuda12.cudnn89.
    if plugins or (jaxlib and "+cuda" in jaxlib.version):
        return Fine(say("JAX has CUDA support."))
    version = packages["jax"].version
    extra = "cuda12" if nvidia.driver_is_too_old(facts, "13") else "cuda13"
    return Finding(
        title=say("JAX runs on the CPU: its CUDA plug-in is not installed."),
        evidence=say("The machine has an NVIDIA GPU, but jax {version} has no plug-in.", version=version),
        remedy=run("pip", "install", f"jax[{extra}]=={version}"),
        confidence="sure",
        cause=Cause.PACKAGES,
    )
