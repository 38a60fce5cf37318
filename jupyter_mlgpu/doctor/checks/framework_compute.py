"""A framework that lists its GPU and cannot compute on it was built for another one, or finds no room.

Sources: tensorflow/tensorflow#40646 (CUDNN_STATUS_INTERNAL_ERROR), lllyasviel/FramePack#550 ("no kernel image
is available for execution on the device").
"""

from __future__ import annotations

from jupyter_mlgpu.doctor import nvidia
from jupyter_mlgpu.doctor.check import Cause, Finding, Fine, Verdict
from jupyter_mlgpu.doctor.facts import Facts
from jupyter_mlgpu.doctor.maybe import known, known_or
from jupyter_mlgpu.doctor.remedies import as_written

ID = "framework-compute"
TITLE = "Every framework computes on its best device"


def judge(facts: Facts) -> Verdict:
    """A finding where the small product failed."""
    failed = {
        name: known_or(answer.compute_error, None) or "-"
        for name, answer in sorted(known(facts.frameworks).items())
        if known_or(answer.imported, False) and not known_or(answer.computed, True)
    }
    if not failed:
        return Fine("Each framework that was imported computed a small product.")
    name, error = next(iter(failed.items()))
    return Finding(
        title=f"{name} cannot compute on the device that it lists first.",
        evidence=f"It says: {error.strip().splitlines()[-1][:300]}",
        remedy=as_written("nvidia-smi\npip check") if nvidia.count(facts) else as_written("pip check"),
        confidence="possible",
        cause=Cause.FRAMEWORKS,
    )
