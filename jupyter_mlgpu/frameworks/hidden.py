"""GPUs that exist and are kept from every framework by CUDA's own variable, until the kernel restarts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jupyter_mlgpu.frameworks import hardware

_VARIABLE = "CUDA_VISIBLE_DEVICES"

# CUDA C++ Programming Guide, "CUDA Environment Variables": GPUs are named by number or by the start of
# their UUID, and of a list only what stands before the first name that is none is visible.
_NAME = re.compile(r"\s*(\d|GPU-|MIG-)")


def from_cuda(framework: str, environ: Mapping[str, str]) -> str | None:
    """Whether CUDA_VISIBLE_DEVICES hides every NVIDIA GPU of this machine: a sentence for the user, or None.

    `framework` is written as people write it. The sentence says what to do before the restart.
    """
    value = environ.get(_VARIABLE)
    if value is None or _NAME.match(value) or hardware.nvidia("gpu:0").driver is None:
        return None
    return (
        f"{_VARIABLE}={value!r} hides this machine's NVIDIA GPU from {framework}, and CUDA reads that once: "
        "first take it out of the cell that sets it, or of the environment that Jupyter was started in."
    )
