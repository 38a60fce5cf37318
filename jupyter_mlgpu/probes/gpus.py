"""The NVIDIA GPUs of this machine, found once: their numbers and names, or why there are none."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from jupyter_mlgpu.probes.nvml import Nvml

NO_NVIDIA_ON_A_MAC = "This Mac's GPU is not NVIDIA's."


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU by NVML's number; `label` is what people read, such as `GPU 0 (NVIDIA H200)`."""

    index: int
    label: str


@dataclass(frozen=True, slots=True)
class Gpus:
    """NVML and the GPUs it tells of; `why_none` is a sentence where there are none."""

    nvml: Nvml
    found: tuple[Gpu, ...]
    why_none: str | None


def find(nvml: Nvml) -> Gpus:
    """Ask NVML; the first question starts it, which may take a second and more."""
    if sys.platform == "darwin":  # no driver of NVIDIA's since macOS 10.14
        return Gpus(nvml, (), NO_NVIDIA_ON_A_MAC)
    count = nvml.count()
    if count.value is None:
        return Gpus(nvml, (), count.why_missing)
    if count.value == 0:
        return Gpus(nvml, (), "NVML finds no NVIDIA GPU here.")
    return Gpus(nvml, tuple(_gpu(nvml, index) for index in range(count.value)), None)


def _gpu(nvml: Nvml, index: int) -> Gpu:
    name = nvml.name(index).value
    return Gpu(index, f"GPU {index} ({name})" if name else f"GPU {index}")
