"""JAX whose GPU is that of a Mac, by its names: the contract suite, and what receipts say.

`tests.support.jax_mps` says what stands for the GPU.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.needs("jax")


@pytest.mark.slow
def test_the_contract_suite_passes_on_mps():
    suite = [sys.executable, "-m", "pytest", "-p", "tests.support.jax_mps", "tests/measure/contract"]
    done = subprocess.run([*suite, "-k", "jax", "-v", "-n", "0"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "exercised_on_such_hardware[jax-metal] PASSED" in done.stdout


@pytest.mark.kernel
def test_a_kernel_with_jax_mps_has_a_gpu_and_says_where_cells_ran(start_kernel):
    kernel = start_kernel(JUPYTER_MLGPU_RECEIPTS="all")
    kernel.run((ROOT / "tests/support/jax_mps.py").read_text(encoding="utf-8"))
    kernel.run("import jax\nones = jax.numpy.ones((500, 500))", timeout=180)
    listed = kernel.run("%mlc_device list").text
    assert "gpu:0   metal   JAX" in listed
    assert "run on an emulated device" in listed
    look = "from jupyter_mlgpu.measure.frameworks import registry"
    assert kernel.evaluate("registry.backend('jax').default_device().name", look) == "gpu:0"
    on_gpu = kernel.run("product = ones @ ones")
    assert set(on_gpu.ran_on) == {"gpu:0"}
    kernel.run("%mlc_device cpu")
    on_cpu = kernel.run("other = jax.numpy.ones((500, 500)) * 2")
    assert set(on_cpu.ran_on) == {"cpu:0"}
    (entry,) = on_cpu.receipt["device"]["ran_on"]
    assert entry["kind"] == "cpu"
