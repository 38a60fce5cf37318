"""The NVIDIA GPUs of this machine, found once: their indices and names, or the reason for having none."""

from __future__ import annotations

import sys

from msgspec import Struct

from jupyter_mlgpu.measure.probes.nvml import NOT_INSTALLED, NOT_KNOWN, Nvml
from jupyter_mlgpu.record.sentence import Sentence, say

NO_NVIDIA_ON_A_MAC = say("This Mac's GPU is not an NVIDIA GPU.")
# The reasons of most machines are in every receipt, so they are short.
NO_PACKAGE = say("The package nvidia-ml-py is not installed.")
NO_DRIVER = say("No NVIDIA driver was found here.")
#: NVML's text for NVML_ERROR_LIBRARY_NOT_FOUND.
_NO_LIBRARY = say("NVML Shared Library Not Found")


class Gpu(Struct, frozen=True):
    """A GPU with NVML's index; `label` is for people, such as `GPU 0 (NVIDIA H200)`."""

    index: int
    label: str


class Gpus(Struct, frozen=True):
    """NVML and its GPUs; `why_none` is a sentence if there are none."""

    nvml: Nvml
    gpus: tuple[Gpu, ...]
    why_none: Sentence | None

    @property
    def reason(self) -> Sentence:
        """The reason for having none."""
        return self.why_none or NOT_KNOWN


def find(nvml: Nvml) -> Gpus:
    """Find the GPUs through NVML. The first query starts NVML, which may take a second and more."""
    if sys.platform == "darwin":  # NVIDIA has no driver since macOS 10.14
        return Gpus(nvml, (), NO_NVIDIA_ON_A_MAC)
    count = nvml.count()
    if count.value is None:
        return Gpus(nvml, (), _short(count.reason))
    if count.value == 0:
        return Gpus(nvml, (), say("NVML finds no NVIDIA GPU here."))
    return Gpus(nvml, tuple(_gpu(nvml, index) for index in range(count.value)), None)


def _short(why: Sentence) -> Sentence:
    if why == NOT_INSTALLED:
        return NO_PACKAGE
    return NO_DRIVER if _NO_LIBRARY in why else why


def _gpu(nvml: Nvml, index: int) -> Gpu:
    name = nvml.name(index).value
    return Gpu(index, f"GPU {index} ({name})" if name else f"GPU {index}")
