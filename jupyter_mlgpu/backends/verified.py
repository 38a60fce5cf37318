"""On which hardware each backend has run: framework and kind of device -> where, in words.

What is not listed has not yet run on such hardware, and `%mlc_device list` says so. An entry is made by
running the contract suite (tests/contract) on a machine of that kind, never by reading documentation.
"""

from __future__ import annotations

from collections.abc import Mapping

VERIFIED: Mapping[tuple[str, str], str] = {
    ("tensorflow", "cpu"): "Linux x86-64, TensorFlow 2.19.1",
    ("torch", "cpu"): "Linux x86-64, PyTorch 2.13.0",
    ("torch", "cuda"): "Linux x86-64, NVIDIA H200, PyTorch 2.11.0",
    ("jax", "cpu"): "Linux x86-64, JAX 0.10.2",
    ("jax", "cuda"): "Linux x86-64, NVIDIA H200, JAX 0.11.2",
    ("mlx", "cpu"): "Linux x86-64, MLX 0.32.4",
}
