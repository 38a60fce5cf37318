"""`make test-frameworks` leaves no test out unseen, and announces a large download."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from constraints import ROOT
from jupyter_mlgpu.measure.frameworks import registry
from tests.packaging.test_make import make

TESTS = """
import pytest

@pytest.mark.needs("json")
def test_of_what_is_there():
    pass

@pytest.mark.needs("json", "no_such_framework")
def test_of_what_is_missing():
    raise AssertionError("it ran")
"""


def run_pytest(folder: Path, required: str = "") -> subprocess.CompletedProcess[str]:
    """Run two tests, one of which needs what is nowhere, under the settings of tests/conftest.py."""
    file = folder / "test_two.py"
    file.write_text(TESTS, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-c", "pyproject.toml", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "JUPYTER_MLGPU_REQUIRE": required},
    )


def test_a_test_whose_framework_is_missing_is_left_out_and_said(tmp_path: Path) -> None:
    done = run_pytest(tmp_path)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 deselected" in done.stdout
    assert (
        "Left out, for what they need is not installed here: 1 for want of no_such_framework." in done.stdout
    )


def test_a_framework_that_is_required_and_missing_is_an_error(tmp_path: Path) -> None:
    done = run_pytest(tmp_path, required="json,no_such_framework")
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "not installed here: no_such_framework." in done.stderr
    assert "passed" not in done.stdout


#: Their callbacks are tested there.
TRAINING = {"lightning", "transformers", "accelerate"}


def test_make_requires_every_framework_that_has_a_backend_and_every_library_that_has_a_callback() -> None:
    planned = make("-n", "test-frameworks").stdout
    required = re.findall(r"JUPYTER_MLGPU_REQUIRE=(\S+)", planned)
    assert required
    assert all(set(names.split(",")) == set(registry.FRAMEWORKS) | TRAINING for names in required)


@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux PyTorch has builds for CUDA")
def test_the_build_for_cuda_is_announced_and_one_for_cpus_is_not(tmp_path: Path) -> None:
    (version,) = re.findall(r"^torch==(\S+)", (ROOT / "constraints" / "torch.txt").read_text(), re.MULTILINE)
    wheel(tmp_path, version, "Requires-Dist: nvidia-cublas; platform_system == 'Linux'\n")
    assert f"only {version} for CUDA: several GB are downloaded now" in announced(tmp_path)
    wheel(tmp_path, f"{version}+cpu", "Requires-Dist: filelock\n")
    assert announced(tmp_path) == ""


def wheel(folder: Path, version: str, requires: str) -> None:
    """Write a wheel of a PyTorch that holds nothing but its metadata."""
    about = f"torch-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n{requires}"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{about}/METADATA", metadata)
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def announced(folder: Path) -> str:
    """Return what is printed before PyTorch is installed, where pip finds only the wheels of a folder."""
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_TARGET": str(folder / "target")}
    done = subprocess.run(
        ["scripts/environments.sh", "announce-torch", sys.executable],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **pip},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
