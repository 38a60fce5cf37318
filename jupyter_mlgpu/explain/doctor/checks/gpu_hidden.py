"""CUDA_VISIBLE_DEVICES hides GPUs: `-1`, an empty value, or the number of a missing GPU hides all.

Sources: thuml/Autoformer#25 and pytorch/examples#115 (1 and 2 on machines with one GPU),
pytorch/pytorch#40618 (empty).
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known
from jupyter_mlgpu.explain.doctor.remedies import FROM_THIS_SHELL, as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("No environment variable hides the GPU")


def judge(facts: Facts) -> Verdict:
    """Return a finding if the variable hides every GPU."""
    known(facts.environment.variables)
    count = nvidia.require_gpu(facts)
    value = nvidia.hiding(facts)
    if value is None:
        return Fine(say("CUDA_VISIBLE_DEVICES leaves a GPU visible."))
    return Finding(
        title=say("CUDA_VISIBLE_DEVICES hides every GPU."),
        evidence=say(
            "It is {value}; GPUs in this machine: {count}, numbered from 0.", value=value, count=count
        )
        if value
        else say("It is empty; GPUs in this machine: {count}, numbered from 0.", count=count),
        remedy=as_written("unset CUDA_VISIBLE_DEVICES") + FROM_THIS_SHELL,
        confidence="sure",
        cause=Cause.SETTINGS,
    )
