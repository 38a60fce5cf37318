"""Working out what a framework has put off: MLX computes a value only when somebody asks for it."""

from __future__ import annotations

import sys


def evaluate(framework: str, value: object) -> None:
    """Have `value` worked out, or handed to the device for that; all but MLX do so by themselves.

    Arrays within lists, tuples and dicts count, too; what is no array is left alone.
    """
    if framework == "mlx" and value is not None:
        sys.modules["mlx.core"].eval(value)
