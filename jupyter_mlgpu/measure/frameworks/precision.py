"""The number types of benchmark cases, and the hardware that emulates them."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path

#: Bytes of a number. tf32 is stored as float32; its products keep 10 bits of the mantissa (NVIDIA,
#: "A100 Tensor Core GPU architecture", 2020).
BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "float64": 8, "tf32": 4}

#: CPU features that show native multiplication of a type (Linux's /proc/cpuinfo; on Arm, the names of
#: arch/arm64/include/uapi/asm/hwcap.h).
_OWN = {
    "float16": {"avx512_fp16", "amx_fp16", "asimdhp"},
    "bfloat16": {"avx512_bf16", "amx_bf16", "avx_ne_convert", "bf16"},
}

#: Compute capability of the first NVIDIA GPUs that multiply a type natively (CUDA C++ Programming Guide,
#: "Arithmetic instructions" and "Tensor cores").
_CAPABILITY = {"float16": (5, 3), "bfloat16": (8, 0), "tf32": (8, 0)}


def emulated_by_processor(type_: str, features: Collection[str] | None) -> str | None:
    """Return a sentence if a processor with these features lacks instructions for a type, else None.

    `features` is None if they are not known; then the result is None.
    """
    own = _OWN.get(type_)
    if own is None or features is None or own & set(features):
        return None
    return (
        f"This processor has no instructions for products of {type_}: they are worked out in float32, which "
        "is slower (emulated)."
    )


def emulated_by_gpu(type_: str, capability: tuple[int, int]) -> str | None:
    """Return a sentence if an NVIDIA GPU of this compute capability emulates a type, else None."""
    if capability >= _CAPABILITY.get(type_, (0, 0)):
        return None
    major, minor = capability
    return (
        f"A GPU of compute capability {major}.{minor} does not multiply {type_} itself: its products are "
        "worked out in float32, which is slower (emulated)."
    )


@cache
def features() -> frozenset[str] | None:
    """Return this processor's features as listed in /proc/cpuinfo; None if they are not available."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        return None
    for line in lines:
        name, _, value = line.partition(":")
        if name.strip().lower() in ("flags", "features"):
            return frozenset(value.split())
    return None
