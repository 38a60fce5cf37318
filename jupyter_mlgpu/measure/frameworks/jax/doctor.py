"""The doctor's questions to JAX: its devices, a small computation, the CUDA it was built for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def sample(size: int) -> tuple[list[str], Callable[[], float]]:
    """Return the kinds of its devices, and a function that multiplies two matrices of ones of this size."""
    import jax
    from jax.extend import backend

    # `jax.devices` lists only the default platform, which need not be that of the GPU.
    kinds = ["cpu" if name == "cpu" else "gpu" for name in backend.backends()]

    def compute() -> float:
        ones = jax.numpy.ones((size, size))
        return float((ones @ ones)[0, 0])

    return ["cpu", *(kind for kind in kinds if kind != "cpu")], compute


def build(folder: Path) -> tuple[str | None, str | None]:
    """Return the CUDA that the plug-in's name contains, and None for cuDNN. Raises OSError without JAX."""
    (folder / "jax/version.py").stat()
    cuda = next((number for number in ("13", "12") if (folder / f"jax_cuda{number}_plugin").is_dir()), None)
    return cuda, None
