"""The machine and the versions that answers were given on."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Any

import psutil

PACKAGES = ("numpy", "pandas", "tensorflow", "keras", "torch", "jax", "mlx")


def host_environment() -> dict[str, Any]:
    """What a reader of figures needs; nothing that names the machine or its owner."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": psutil.cpu_count(),
        "memory_bytes": psutil.virtual_memory().total,
        "packages": {name: found for name in PACKAGES if (found := _version(name)) is not None},
        "gpu": _gpu(),
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _gpu() -> str | None:
    """The name of the first NVIDIA GPU; None where there is none."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))
    except Exception:
        return None
