"""TensorFlow's names of devices, and ours."""

from __future__ import annotations

import functools
from typing import Any

from jupyter_mlgpu.measure.frameworks.imports import module


def short_name(native: str) -> str:
    """Return `cpu:1` of `/job:localhost/replica:0/task:0/device:CPU:1`."""
    return native.rpartition("device:")[2].lower()


def kind_of(device_type: str) -> str:
    """Return `cpu`, `cuda`, `metal` or `rocm` for TensorFlow's type `CPU` or `GPU`; others in lower case."""
    return _gpu() if device_type == "GPU" else device_type.lower()


def _gpu() -> str:
    tf = module("tensorflow")
    found = tf.config.list_physical_devices("GPU")
    if found and _platform(found[0]) == "METAL":
        return "metal"
    return "rocm" if tf.test.is_built_with_rocm() else "cuda"


@functools.cache
def _platform(physical: Any) -> str:
    """Return a device's name, which for a plug-in is its platform's; does not start TensorFlow (2.19.1)."""
    experimental = module("tensorflow").config.experimental
    return str(experimental.get_device_details(physical).get("device_name", "")).upper()
