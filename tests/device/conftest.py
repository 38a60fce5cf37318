"""PyTorch and JAX on a real CUDA GPU; where there is none, their tests are skipped and say why."""

from __future__ import annotations

import pytest

from jupyter_mlgpu.frameworks import registry


@pytest.fixture(scope="module")
def torch():
    module = pytest.importorskip("torch", reason="PyTorch is not installed here")
    if registry.backend("torch").devices()[-1].kind != "cuda":
        pytest.skip("PyTorch finds no CUDA GPU here")
    return module


@pytest.fixture(scope="module")
def jax():
    module = pytest.importorskip("jax", reason="JAX is not installed here")
    if registry.backend("jax").find_devices()[-1].kind != "cuda":
        pytest.skip("JAX finds no CUDA GPU here")
    return module
