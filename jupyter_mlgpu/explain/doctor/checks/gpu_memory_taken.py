"""If other programs use most of a GPU's memory, too little is left for a model.

Sources: erikguo/yolov3#4, pytorch/pytorch#4031 (memory held by a process that should be gone),
apache/mxnet#4242.
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor import nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, known_or
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.sizes import gigabytes
from jupyter_mlgpu.record.sentence import joined, say

TITLE = say("The GPU has free memory")
# Share of the GPU's memory that should be free at least.
_SHARE = 0.2


def judge(facts: Facts) -> Verdict:
    """Return a finding if less than a fifth of a GPU's memory is free because of other programs."""
    sized = [
        (gpu, total, free)
        for gpu in nvidia.gpus(facts)
        if (total := known_or(gpu.memory, None)) and (free := known_or(gpu.memory_free, None)) is not None
    ]
    if not sized:
        return Skipped(say("No GPU reports memory of its own."))
    gpu, total, free = max(sized, key=lambda entry: entry[2] / entry[1])
    processes = known_or(gpu.processes, ())
    ours = sum(known_or(one.used, 0) for one in processes if one.ours)
    evidence = say("{free} of {total} are free.", free=gigabytes(free), total=gigabytes(total))
    if free + ours >= _SHARE * total:
        return Fine(evidence)
    others = [one for one in processes if not one.ours]
    users = [
        say("{program} uses {size}.", program=one.program, size=gigabytes(known_or(one.used, 0)))
        for one in others
    ]
    return Finding(
        title=say("Other programs are using most of the GPU's memory."),
        evidence=joined(evidence, *users),
        remedy=as_written(
            "nvidia-smi --query-compute-apps=pid,process_name,used_memory --format=csv\n"
            "# Shut down the kernels that hold it (Running Terminals and Kernels), or wait for the others."
        ),
        confidence="likely",
        cause=Cause.MACHINE,
    )
