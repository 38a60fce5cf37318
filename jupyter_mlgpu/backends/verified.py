"""How far each backend was seen working: framework and kind of device -> where, and if that was a real one.

What is not listed has not yet run there, and `%mlc_device list` says so. An entry is made by running the
contract suite (tests/contract) on a machine of that kind, or over the emulated device
(tests/metal_emulator), never by reading documentation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verified:
    """Where the contract suite passed, in words; `emulated` where the device there was not a real one."""

    where: str
    emulated: bool = False

    def __str__(self) -> str:
        if self.emulated:
            return f"run on an emulated device ({self.where}), not yet on a real one"
        return f"seen working on {self.where}"


VERIFIED: Mapping[tuple[str, str], Verified] = {
    ("tensorflow", "cpu"): Verified("Linux x86-64, TensorFlow 2.19.1"),
    ("tensorflow", "metal"): Verified("Linux x86-64, TensorFlow 2.19.1", emulated=True),
    ("torch", "cpu"): Verified("Linux x86-64, PyTorch 2.13.0"),
    ("torch", "cuda"): Verified("Linux x86-64, NVIDIA H200, PyTorch 2.11.0"),
    ("jax", "cpu"): Verified("Linux x86-64, JAX 0.10.2"),
    ("jax", "cuda"): Verified("Linux x86-64, NVIDIA H200, JAX 0.11.2"),
    ("mlx", "cpu"): Verified("Linux x86-64, MLX 0.32.4"),
}
