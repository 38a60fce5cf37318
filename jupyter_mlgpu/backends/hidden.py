"""GPUs that exist and are kept from a framework in a way that lasts until the kernel restarts.

Nothing here starts a framework. Each function gives the sentence for the user, which also says what to do
before the restart, or None where nothing is hidden.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from jupyter_mlgpu.backends import hardware

_VARIABLE = "CUDA_VISIBLE_DEVICES"

# CUDA C++ Programming Guide, "CUDA Environment Variables": GPUs are named by number or by the start of
# their UUID, and of a list only what stands before the first name that is none is visible.
_NAME = re.compile(r"\s*(\d|GPU-|MIG-)")


def from_cuda(framework: str, environ: Mapping[str, str]) -> str | None:
    """Whether CUDA_VISIBLE_DEVICES hides every NVIDIA GPU of this machine; `framework` as people write it."""
    value = environ.get(_VARIABLE)
    if value is None or _NAME.match(value) or hardware.nvidia("gpu:0").driver is None:
        return None
    return (
        f"{_VARIABLE}={value!r} hides this machine's NVIDIA GPU from {framework}, and CUDA reads that once: "
        "first take it out of the cell that sets it, or of the environment that Jupyter was started in."
    )


def from_tensorflow(config: Any, started: bool) -> str | None:
    """Whether `tf.config` (`config`) was told to leave out every GPU that it found, and it is too late."""
    # Before the start it can still be told otherwise; afterwards it says "Visible devices cannot be
    # modified after being initialized".
    if not started or config.get_visible_devices("GPU") or not config.list_physical_devices("GPU"):
        return None
    return (
        "TensorFlow was told to hide its GPU (tf.config.set_visible_devices), and cannot show it again once "
        "it has started: first take that line out."
    )


def from_jax(platforms: str | None, plugins: Collection[str], started: bool) -> str | None:
    """Whether `jax_platforms` (`platforms`) leaves out every GPU plug-in that JAX has, and it is too late.

    `plugins` are the names of the platforms for which JAX has a client or a plug-in.
    """
    named = platforms.split(",") if platforms else []
    there = [name for name in ("cuda", "rocm", "METAL") if name in plugins]
    if not started or not named or not there or {"gpu", *there} & set(named):
        return None
    if there == ["cuda"] and hardware.nvidia("gpu:0").driver is None:
        return None
    return (
        f"JAX was told to use {platforms} alone (JAX_PLATFORMS, or jax_platforms in jax.config), and cannot "
        "take another platform once it has started: first take that setting out."
    )
