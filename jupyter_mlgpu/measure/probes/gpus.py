"""The NVIDIA GPUs of this machine, found once: their numbers and names, or why there are none."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from jupyter_mlgpu.measure.probes import nvml as asking
from jupyter_mlgpu.measure.probes.nvml import NOT_KNOWN, Nvml
from jupyter_mlgpu.record.sentence import Sentence, say

NO_NVIDIA_ON_A_MAC = say("This Mac's GPU is not an NVIDIA GPU.")
# What most machines say stands in every receipt, so it is short there.
NO_PACKAGE = say("The package nvidia-ml-py is not installed.")
NO_DRIVER = say("No NVIDIA driver was found here.")
#: NVML's own words for it (NVML_ERROR_LIBRARY_NOT_FOUND).
_NO_LIBRARY = say("NVML Shared Library Not Found")


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU by NVML's number; `label` is what people read, such as `GPU 0 (NVIDIA H200)`."""

    index: int
    label: str


@dataclass(frozen=True, slots=True)
class Gpus:
    """NVML and the GPUs it tells of; `why_none` is a sentence where there are none."""

    nvml: Nvml
    gpus: tuple[Gpu, ...]
    why_none: Sentence | None

    @property
    def reason(self) -> Sentence:
        """Why there is none."""
        return self.why_none or NOT_KNOWN


def find(nvml: Nvml) -> Gpus:
    """Ask NVML; the first question starts it, which may take a second and more."""
    if sys.platform == "darwin":  # no driver of NVIDIA's since macOS 10.14
        return Gpus(nvml, (), NO_NVIDIA_ON_A_MAC)
    count = nvml.count()
    if count.value is None:
        return Gpus(nvml, (), _short(count.reason))
    if count.value == 0:
        return Gpus(nvml, (), say("NVML finds no NVIDIA GPU here."))
    return Gpus(nvml, tuple(_gpu(nvml, index) for index in range(count.value)), None)


def _short(why: Sentence) -> Sentence:
    if why == asking.NOT_INSTALLED:
        return NO_PACKAGE
    return NO_DRIVER if _NO_LIBRARY in why else why


def _gpu(nvml: Nvml, index: int) -> Gpu:
    name = nvml.name(index).value
    return Gpu(index, f"GPU {index} ({name})" if name else f"GPU {index}")
