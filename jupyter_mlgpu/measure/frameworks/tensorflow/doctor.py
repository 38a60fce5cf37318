"""The doctor's questions to TensorFlow: its devices, a small computation, the CUDA it was built for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """Return the kinds of its devices, and a function that multiplies two matrices of ones of this size."""
    import tensorflow as tf

    kinds = [one.device_type.lower() for one in tf.config.list_physical_devices()]

    def compute() -> float:
        with tf.device("GPU:0" if "gpu" in kinds else "CPU:0"):
            ones = tf.ones((size, size))
            return float(tf.matmul(ones, ones)[0, 0].numpy())

    return kinds, compute


def build(folder: Path) -> tuple[str | None, str | None]:
    """Return the CUDA and cuDNN in TensorFlow's build_info. Raises OSError without that file."""
    text = (folder / "tensorflow/python/platform/build_info.py").read_text(errors="replace")
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    # build_info is an OrderedDict([...]).
    lists = [ast.literal_eval(one) for call in calls for one in call.args if isinstance(one, ast.List)]
    info = dict(next(iter(lists), []))
    if not info.get("is_cuda_build"):
        return None, None
    return info.get("cuda_version"), info.get("cudnn_version")
