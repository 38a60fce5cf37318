"""Options and files of results that the commands of the exam share."""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import psutil

PACKAGES = ("numpy", "pandas", "tensorflow", "keras", "torch", "jax", "mlx")


def parser(description: str | None, module: str) -> argparse.ArgumentParser:
    """Return a parser with the options that choose programs and name a file for the results."""
    made = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prog=f"python -m {module}",
    )
    made.add_argument("--only", metavar="GLOB", help="programs whose id matches, as 'sleep-*'")
    made.add_argument("--framework", metavar="NAME", help="programs of this framework")
    made.add_argument("--json", metavar="FILE", type=Path, help="keep everything in this file, too")
    return made


def keep(file: Path | None, results: dict[str, Any]) -> None:
    """Write results with the machine that they are from, where a file is named for them."""
    if file is not None:
        file.write_text(json.dumps({"machine": machine(), **results}, indent=1) + "\n", encoding="utf-8")


def machine() -> dict[str, Any]:
    """Return the hardware and versions of this machine, and nothing that names it or its owner."""
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
    """Return the name of the first NVIDIA GPU; None where there is none."""
    try:
        import pynvml

        pynvml.nvmlInit()
        return str(pynvml.nvmlDeviceGetName(pynvml.nvmlDeviceGetHandleByIndex(0)))
    except Exception:
        return None
