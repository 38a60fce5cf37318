"""PyTorch's data loaders pass batches through /dev/shm, of which Docker gives a container 64 MB.

Sources: pytorch/pytorch#5040, bytedance/Protenix#2, nianticlabs/simplerecon#3 ("insufficient shared memory
(shm)").
"""

from __future__ import annotations

from jupyter_mlgpu.explain.doctor.check import Cause, Facts, Finding, Fine, Skipped, Verdict, installed, known
from jupyter_mlgpu.explain.doctor.remedies import as_written
from jupyter_mlgpu.explain.doctor.sizes import GIB, gigabytes
from jupyter_mlgpu.record.sentence import say

TITLE = say("Data loaders have enough shared memory")
_NEEDED = GIB


def judge(facts: Facts) -> Verdict:
    """Return a finding if a container with PyTorch has less than 1 GiB of shared memory."""
    if not known(facts.machine.container):
        return Skipped(say("This is not a container."))
    installed(facts, "torch")
    size = known(facts.storage.shared_memory)
    if size is None:
        return Skipped(say("/dev/shm does not exist."))
    if size >= _NEEDED:
        return Fine(say("/dev/shm has {size}.", size=gigabytes(size)))
    return Finding(
        title=say("This container's shared memory is too small for PyTorch's data loaders."),
        evidence=say("/dev/shm has {size}.", size=gigabytes(size)),
        remedy=as_written("# Outside of the container: docker run --shm-size=8g IMAGE"),
        confidence="likely",
        cause=Cause.ADVICE,
    )
