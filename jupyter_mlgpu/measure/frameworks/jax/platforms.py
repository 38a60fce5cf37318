"""The names under which JAX's plug-ins for GPUs register, and our kinds of devices for them.

Read in the wheels for macOS, not run on a Mac:

* jax-metal 0.1.1, Apple's last one (2024): `METAL`, priority 500, above the CPU. It fails with jax 0.5.1 and
  newer (jax-ml/jax#27062).
* jax-mps 0.11.1, which runs programs with MLX: `mps`, priority 500, jax 0.11, Python 3.12 or newer. Its
  device is `MpsDevice(id=0)` of kind `gpu`. `memory_stats` has MLX's bytes in use, peak and pool, but no
  number of allocations, which JAX then reports as -1.
* metaljax 0.11.9, which runs programs with MLX, too: `metal`, priority -1, so that the CPU stays the default
  device, jax 0.11, Python 3.12 or newer. Its device is `MetalDevice(id=0)` of kind `Apple GPU`. It has no
  `memory_stats`; up to 0.11.3 (its source) they were 0 bytes in use and nothing else.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

#: The platforms of a Mac's GPU.
METAL = ("METAL", "mps", "metal")
GPUS = ("cuda", "rocm", *METAL)


def kind(platform: str) -> str:
    """Return our kind of device for a platform: cpu, cuda, rocm, metal, or the name itself."""
    return "metal" if platform in METAL else platform.lower()


def gpus_among(platforms: Collection[str]) -> list[str]:
    """Return the platforms of GPUs among these."""
    return [name for name in GPUS if name in platforms]


def reported(stats: Mapping[str, int] | None) -> dict[str, int]:
    """Return what a plug-in reports of its allocator, empty if it reports nothing.

    XLA puts -1 for what a plug-in leaves out (PjRtCApiDevice::GetAllocatorStats). A plug-in that has no
    statistics at all may report 0 bytes in use, and nothing else.
    """
    known = {name: value for name, value in (stats or {}).items() if value >= 0}
    return {} if known == {"bytes_in_use": 0} else known
