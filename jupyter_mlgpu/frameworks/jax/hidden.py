"""GPUs that exist and are kept from JAX in a way that lasts until the kernel restarts."""

from __future__ import annotations

from collections.abc import Collection

from jupyter_mlgpu.frameworks import hardware


def by_configuration(platforms: str | None, plugins: Collection[str], started: bool) -> str | None:
    """A sentence where `jax_platforms` (`platforms`) leaves out every GPU plug-in that JAX has.

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
