"""The doctor's questions to MLX: its devices, and a small computation."""

from __future__ import annotations

from collections.abc import Callable


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """Return the kinds of its devices, and a function that multiplies two matrices of ones of this size."""
    import mlx.core as mx

    gpu = mx.default_device().type == mx.DeviceType.gpu

    def compute() -> float:
        ones = mx.ones((size, size))
        return float((ones @ ones)[0, 0].item())

    return ["cpu"] + ["gpu"] * gpu, compute
