"""The doctor on a machine with a real NVIDIA GPU: what it is told, and that it finds nothing wrong with it.

    python -m pytest -c tests/device/pytest.ini --rootdir=. tests/device/test_doctor_on_gpu.py -s

Needs nvidia-ml-py and psutil beside PyTorch, and JAX for its own test; what is missing is skipped and named.
The facts are printed, and written to the folder that JUPYTER_MLGPU_MEASUREMENTS names. Under two minutes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.diagnose import diagnose
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.explain.doctor.gather import frameworks, gather
from jupyter_mlgpu.measure.probes.nvml import Nvml
from jupyter_mlgpu.show.doctor import page


@pytest.fixture(scope="module")
def nvml() -> Nvml:
    told = Nvml()
    if not told.count().value:
        pytest.skip(f"NVML tells no GPU here: {told.count().why_missing}")
    return told


@pytest.fixture(scope="module")
def facts(nvml: Nvml) -> Facts:
    begun = time.monotonic()
    found = gather()
    print(f"\ngathered in {time.monotonic() - begun:.2f} s")
    folder = os.environ.get("JUPYTER_MLGPU_MEASUREMENTS")
    if folder:
        reading.save(Path(folder) / "facts.json", found)
    print(found.gpus, found.libraries, found.builds, sep="\n")
    return found


def test_the_gpu_is_told_as_nvml_tells_it(facts: Facts, nvml: Nvml):
    assert isinstance(facts.gpus.found, tuple)
    assert len(facts.gpus.found) == nvml.count().value
    first = facts.gpus.found[0]
    assert (first.vendor, first.name) == ("nvidia", nvml.name(0).value)
    assert first.memory == nvml.memory(0).value.total
    assert facts.gpus.driver == nvml.driver().value
    assert float(str(facts.gpus.cuda)) >= 11
    assert float(str(first.compute_capability)) >= 5
    assert facts.gpus.device_files == "there"


def test_no_check_crashes_and_none_is_about_the_gpu(facts: Facts):
    diagnosis = diagnose(facts)
    print(page.text(diagnosis, all_checks=True))
    assert diagnosis.of("crashed") == ()
    about = ("gpu", "cuda", "cudnn", "driver", "nvml")
    assert [one for one in diagnosis.findings if any(word in one.id for word in about)] == []


def test_pytorch_computes_on_the_gpu_in_its_own_process(torch):
    answer = frameworks.ask("torch", time.monotonic() + 120)
    print(answer)
    assert "gpu" in answer.devices
    assert answer.computed is True


def test_jax_computes_on_the_gpu_in_its_own_process(jax):
    answer = frameworks.ask("jax", time.monotonic() + 120)
    print(answer)
    assert "gpu" in answer.devices
    assert answer.computed is True
