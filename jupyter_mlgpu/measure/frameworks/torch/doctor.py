"""The doctor's questions to PyTorch: its devices, a small computation, the CUDA it was built for."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """Return the kinds of its devices, and a function that multiplies two matrices of ones of this size."""
    import torch

    kinds = ["cpu"] + ["gpu"] * torch.cuda.device_count()
    mps = torch.backends.mps.is_available()
    best = "cuda" if len(kinds) > 1 else "mps" if mps else "cpu"

    def compute() -> float:
        ones = torch.ones((size, size), device=best)
        return float((ones @ ones)[0, 0])

    return kinds + ["gpu"] * mps, compute


def build(folder: Path) -> tuple[str | None, str | None]:
    """Return the CUDA that torch/version.py names, and None for cuDNN. Raises OSError without that file."""
    for node in ast.parse((folder / "torch/version.py").read_text(errors="replace")).body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name("cuda"), value=ast.Constant(version))
                | ast.Assign(targets=[ast.Name("cuda")], value=ast.Constant(version))
            ):
                return None if version is None else str(version), None
    return None, None
