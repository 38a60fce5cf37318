"""TensorFlow's names of devices, and ours."""

from __future__ import annotations

import sys


def short_name(native: str) -> str:
    """`cpu:1` of `/job:localhost/replica:0/task:0/device:CPU:1`."""
    return native.rpartition("device:")[2].lower()


def kind_of(device_type: str) -> str:
    """`cpu`, `cuda`, `metal` or `rocm` for TensorFlow's type `CPU` or `GPU`; other types as they are."""
    if device_type != "GPU":
        return device_type.lower()
    if sys.platform == "darwin":
        return "metal"
    return "rocm" if sys.modules["tensorflow"].test.is_built_with_rocm() else "cuda"
