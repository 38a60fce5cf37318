"""A framework that lists its GPU but cannot compute on it was built for another GPU, or the memory is full.

Sources: tensorflow/tensorflow#40646 (CUDNN_STATUS_INTERNAL_ERROR), lllyasviel/FramePack#550 ("no kernel image
is available for execution on the device").
"""

from __future__ import annotations

import re

from jupyter_mlgpu.explain.doctor import ask, nvidia
from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Verdict, known, known_or
from jupyter_mlgpu.explain.doctor.remedies import Remedy, as_written
from jupyter_mlgpu.record.sentence import say

TITLE = say("Every framework computes on its best device")

# Error messages for full memory of PyTorch, of JAX and TensorFlow, of Metal, and of MLX.
_OUT_OF_MEMORY = re.compile(
    r"(?i)out of memory|RESOURCE_EXHAUSTED|Insufficient Memory|malloc\] Unable to allocate"
)


def judge(facts: Facts) -> Verdict:
    """Return a finding if a framework's small test product failed."""
    failed = {
        name: answer
        for name, answer in sorted(known(facts.frameworks).items())
        if known_or(answer.imported, False) and not known_or(answer.computed, True)
    }
    if not failed:
        return Fine(say("Each imported framework computed a small matrix product."))
    name, answer = next(iter(failed.items()))
    error, product = known_or(answer.compute_error, None) or "-", known_or(answer.product, None)
    evidence = say("The error was: {said}", said=error.strip().splitlines()[-1][:300])
    if product is not None:
        evidence = say("A test product gave {found} instead of {right}.", found=product, right=str(ask.SIZE))
    if _OUT_OF_MEMORY.search(error):
        return Finding(
            title=say("{name} cannot compute on its first device, whose memory is full.", name=name),
            evidence=evidence,
            remedy=_free_memory_remedy(facts),
            confidence="likely",
            cause=Cause.FRAMEWORKS,
        )
    return Finding(
        title=say("{name} cannot compute on the first device it lists.", name=name),
        evidence=evidence,
        remedy=as_written("nvidia-smi\npip check") if nvidia.count(facts) else as_written("pip check"),
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )


def _free_memory_remedy(facts: Facts) -> Remedy:
    """Return commands that list the programs by memory, and advice to close them."""
    free = as_written(
        "# Shut down the kernels of other notebooks, and close the programs that use most of it."
    )
    if nvidia.count(facts):
        return as_written("nvidia-smi") + free
    return as_written("ps -A -c -m -o rss,comm | head") + free
