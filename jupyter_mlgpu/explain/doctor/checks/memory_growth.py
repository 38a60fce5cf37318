"""TensorFlow and JAX allocate nearly all of a GPU's memory at once, even if the GPU is shared.

Sources: hammerlab/flowdec#13, googlecolab/colabtools#52, hunkim/DeepLearningZeroToAll#116; the variables are
those of TensorFlow's guide "Use a GPU" and of JAX's page "GPU memory allocation".
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.facts import GpuFact
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, run
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("Frameworks allocate a shared GPU's memory as needed")
# Bytes from which a process counts as computing on the GPU; desktop programs use less.
_NEIGHBOUR = 512 * 2**20


def judge(facts: Facts) -> Verdict:
    """Return a finding if others compute on the GPU and a framework would take all free memory."""
    packages, variables = known(facts.packages), known(facts.environment.variables)
    shared = [gpu for gpu in nvidia.gpus(facts) if _is_shared(gpu)]
    if not shared:
        return Fine(say("No GPU is shared with another program."))
    unset = [
        f"{name}={value}"
        for framework in registry.FRAMEWORKS
        for name, value in registry.framework(framework).memory_growth_env.items()
        if framework in packages
        and nvidia.cuda_of(facts, framework)
        and variables.get(name, "").lower() != value
    ]
    if not unset:
        return Fine(say("The frameworks here allocate memory as needed."))
    names = sorted({one.program for one in known(shared[0].processes) if not one.ours})
    return Finding(
        title=say("A framework would take all free memory of a shared GPU."),
        evidence=joined(
            say("Other programs on the GPU: {names}.", names=", ".join(names)),
            say("Not set: {names}.", names=", ".join(unset)),
        ),
        remedy=run("export", *unset) + FROM_THIS_SHELL,
        confidence="likely",
        cause=Cause.ADVICE,
    )


def _is_shared(gpu: GpuFact) -> bool:
    total, free = known_or(gpu.memory, None), known_or(gpu.memory_free, None)
    if not total or free is None or free < total / 5:  # `gpu_memory_taken` reports less free memory
        return False
    others = [known_or(one.used, 0) for one in known_or(gpu.processes, ()) if not one.ours]
    return any(used >= _NEIGHBOUR for used in others)
