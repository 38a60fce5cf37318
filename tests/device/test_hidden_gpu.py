"""A real NVIDIA GPU that is hidden from a framework until the kernel restarts, for PyTorch and JAX.

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_hidden_gpu.py -v

Each case is a process of its own, for what hides the GPU is read once.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys

import pytest

from jupyter_mlgpu.measure.frameworks import hardware

ASK = """
import {framework}
from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.device_request import DeviceWord
from jupyter_mlgpu.record.errors import RestartNeededError
from jupyter_mlgpu.measure.selection import DeviceSelection

backend = registry.backend("{framework}")
try:
    selection = DeviceSelection(lambda: [backend])
    selection.select(DeviceWord.parse("gpu"))
    print(selection.devices()[0].name, backend.needs_restart())
except RestartNeededError as error:
    print(error.refusal, error.sentence)
"""


def asked_for_a_gpu(framework: str, **environment: str) -> str:
    if hardware.nvidia("gpu:0").driver is None:
        pytest.skip("there is no NVIDIA GPU here")
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed here")
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(framework=framework)],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("framework", ["torch", "jax"])
@pytest.mark.parametrize("value", ["", "-1"])
def test_a_gpu_that_cudas_variable_hides_is_told_from_one_that_is_not_there(framework, value):
    said = asked_for_a_gpu(framework, CUDA_VISIBLE_DEVICES=value)
    assert "until the kernel is restarted: found cpu:0; nothing was changed." in said
    assert f"CUDA_VISIBLE_DEVICES={value!r} hides this machine's NVIDIA GPU" in said


def test_a_gpu_that_jax_was_told_to_leave_out_is_told_from_one_that_is_not_there():
    said = asked_for_a_gpu("jax", JAX_PLATFORMS="cpu")
    assert "JAX was told to use only cpu" in said


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_a_gpu_that_nothing_hides_needs_no_restart(framework):
    assert asked_for_a_gpu(framework) == "gpu:0 None\n"
