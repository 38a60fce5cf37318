"""The types in which cases compute, and whether a processor can multiply them itself."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

#: Bytes of a number. tf32 lies in memory as float32; its products keep 10 bits after the point (NVIDIA,
#: "A100 Tensor Core GPU architecture", 2020).
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "tf32": 4}

#: What a processor lists where it multiplies numbers of a type itself (Linux's /proc/cpuinfo; on Arm, the
#: names of arch/arm64/include/uapi/asm/hwcap.h).
_OWN = {
    "float16": {"avx512_fp16", "amx_fp16", "asimdhp"},
    "bfloat16": {"avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16"},
}

#: Compute capability of the first NVIDIA GPUs that multiply numbers of a type themselves (CUDA C++
#: Programming Guide, "Arithmetic instructions" and "Tensor cores").
_CAPABILITY = {"float16": (5, 3), "bfloat16": (8, 0), "tf32": (8, 0)}


def emulated_by_processor(type_: str, features: Collection[str] | None) -> str | None:
    """A sentence where a processor with these features lacks instructions for a type; None where it has them.

    `features` is None where they are not known, and then nothing is said.
    """
    own = _OWN.get(type_)
    if own is None or features is None or own & set(features):
        return None
    return (
        f"This processor has no instructions for products of {type_}: they are worked out in float32, which "
        "is slower (emulated)."
    )


def emulated_by_gpu(type_: str, capability: tuple[int, int]) -> str | None:
    """As `emulated_by_processor`, for an NVIDIA GPU of a compute capability."""
    if capability >= _CAPABILITY.get(type_, (0, 0)):
        return None
    major, minor = capability
    return (
        f"A GPU of compute capability {major}.{minor} does not multiply {type_} itself: its products are "
        "worked out in float32, which is slower (emulated)."
    )


@cache
def features() -> frozenset[str] | None:
    """What this processor can, by the words of /proc/cpuinfo; None where that is not told."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() in ("flags", "features"):
            return frozenset(value.split())
    return None
