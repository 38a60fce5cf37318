"""Runs in a process of its own: imports one framework, lists its devices, computes a small product.

`python -m jupyter_mlgpu.doctor.ask torch` prints one line of JSON after the mark below, as the last
line. What happens before that, a crash included, is for the one who asked to see.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from collections.abc import Callable
from typing import Any

#: Stands before the answer, among whatever the framework prints.
MARK = "jupyter_mlgpu-answer:"
#: Square matrices of ones of this size: every element of their product is this number.
_SIZE = 64

_Found = tuple[list[str], Callable[[], float]]


def main(framework: str) -> None:
    """Ask, and print the answer."""
    answer: dict[str, Any] = {"imported": False, "error": None}
    try:
        devices, compute = _ASKED[framework]()
        answer |= {"imported": True, "devices": devices, "version": _version(framework)}
        answer |= _computed(compute)
    except BaseException:
        answer["error"] = traceback.format_exc()
    print(f"\n{MARK}{json.dumps(answer)}", flush=True)


def _computed(compute: Callable[[], float]) -> dict[str, Any]:
    try:
        found = compute()
    except Exception:
        return {"computed": False, "compute_error": traceback.format_exc()}
    right = found == _SIZE
    return {"computed": right, "compute_error": None if right else f"The product is {found}, not {_SIZE}."}


def _version(framework: str) -> str | None:
    module = sys.modules["mlx.core" if framework == "mlx" else framework]
    version = getattr(module, "__version__", None)
    return None if version is None else str(version)


def _tensorflow() -> _Found:
    tf = importlib.import_module("tensorflow")
    kinds = [one.device_type.lower() for one in tf.config.list_physical_devices()]

    def compute() -> float:
        with tf.device("GPU:0" if "gpu" in kinds else "CPU:0"):
            ones = tf.ones((_SIZE, _SIZE))
            return float(tf.matmul(ones, ones)[0, 0].numpy())

    return kinds, compute


def _torch() -> _Found:
    torch = importlib.import_module("torch")
    kinds = ["cpu"] + ["gpu"] * torch.cuda.device_count()
    mps = torch.backends.mps.is_available()
    best = "cuda" if len(kinds) > 1 else "mps" if mps else "cpu"

    def compute() -> float:
        ones = torch.ones((_SIZE, _SIZE), device=best)
        return float((ones @ ones)[0, 0])

    return kinds + ["gpu"] * mps, compute


def _jax() -> _Found:
    jax = importlib.import_module("jax")
    kinds = ["cpu" if one.platform == "cpu" else "gpu" for one in jax.devices()]

    def compute() -> float:
        ones = jax.numpy.ones((_SIZE, _SIZE))
        return float((ones @ ones)[0, 0])

    return ["cpu", *(kind for kind in kinds if kind != "cpu")], compute


def _mlx() -> _Found:
    mx = importlib.import_module("mlx.core")
    gpu = mx.default_device().type == mx.DeviceType.gpu

    def compute() -> float:
        ones = mx.ones((_SIZE, _SIZE))
        return float((ones @ ones)[0, 0].item())

    return ["cpu"] + ["gpu"] * gpu, compute


_ASKED: dict[str, Callable[[], _Found]] = {
    "tensorflow": _tensorflow,
    "torch": _torch,
    "jax": _jax,
    "mlx": _mlx,
}

if __name__ == "__main__":
    main(sys.argv[1])
