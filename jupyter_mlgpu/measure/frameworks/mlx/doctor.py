"""What the doctor asks of MLX: its devices, and whether it computes."""

from __future__ import annotations

from collections.abc import Callable


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """The kinds of its devices, and how to multiply two matrices of ones of this size."""
    import mlx.core as mx

    gpu = mx.default_device().type == mx.DeviceType.gpu

    def compute() -> float:
        ones = mx.ones((size, size))
        return float((ones @ ones)[0, 0].item())

    return ["cpu"] + ["gpu"] * gpu, compute
