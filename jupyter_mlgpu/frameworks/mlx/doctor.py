"""What the doctor asks of MLX: its devices, and whether it computes."""

from __future__ import annotations

import importlib
from collections.abc import Callable


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """See `Framework.sample`; the product is of two matrices of ones, of this size."""
    mx = importlib.import_module("mlx.core")
    gpu = mx.default_device().type == mx.DeviceType.gpu

    def compute() -> float:
        ones = mx.ones((size, size))
        return float((ones @ ones)[0, 0].item())

    return ["cpu"] + ["gpu"] * gpu, compute
