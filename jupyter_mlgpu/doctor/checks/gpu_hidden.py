"""CUDA_VISIBLE_DEVICES hides GPUs: `-1`, nothing, or the number of one that is not there hide all.

Sources: thuml/Autoformer#25 and pytorch/examples#115 (1 and 2 on machines with one GPU),
pytorch/pytorch#40618 (empty).
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Skipped, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known
from jupyter_mlgpu.doctor.remedies import FROM_THIS_SHELL, as_written

ID = "gpu-hidden"
TITLE = "No variable hides the GPU"


def judge(facts: Facts) -> Verdict:
    """A finding where the variable leaves no GPU to be seen."""
    known(facts.environment.variables)
    count = nvidia.count(facts)
    if not count:
        return Skipped("There is no NVIDIA GPU.")
    value = nvidia.hiding(facts)
    if value is None:
        return Fine("CUDA_VISIBLE_DEVICES hides nothing.")
    return Finding(
        title="CUDA_VISIBLE_DEVICES hides every GPU.",
        evidence=f"It is {value or 'empty'}; GPUs of the machine: {count}, numbered from 0.",
        remedy=as_written("unset CUDA_VISIBLE_DEVICES") + FROM_THIS_SHELL,
        confidence="sure",
        cause=Cause.SETTINGS,
    )
