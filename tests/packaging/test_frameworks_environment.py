"""What `make test-frameworks` promises: no test is left out unseen, and no large download comes unsaid."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import install_torch
import pytest

from constraints import ROOT
from jupyter_mlgpu.measure.frameworks import registry
from tests.packaging.test_make import run

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
    planned = run("make", "-n", "test-frameworks").stdout
    required = re.findall(r"JUPYTER_MLGPU_REQUIRE=(\S+)", planned)
    assert required
    assert all(set(names.split(",")) == set(registry.FRAMEWORKS) | TRAINING for names in required)


VERSION = next(
    line.strip().removeprefix("torch==")
    for line in install_torch.CONSTRAINTS.read_text(encoding="utf-8").splitlines()
    if line.startswith("torch==")
)


def wheel(folder: Path, version: str, requires: str = "") -> None:
    """A wheel of a PyTorch that holds nothing but its metadata."""
    metadata = f"Metadata-Version: 2.1\nName: torch\nVersion: {version}\n{requires}"
    about = f"torch-{version}.dist-info"
    with zipfile.ZipFile(folder / f"torch-{version}-py3-none-any.whl", "w") as file:
        file.writestr(f"{about}/METADATA", metadata)
        file.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(f"{about}/RECORD", "")


def install_from(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the script where pip finds only the wheels of `folder`."""
    pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_TARGET": str(folder / "target")}
    return subprocess.run(
        [sys.executable, "scripts/install_torch.py", *words],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **pip},
    )


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only on Linux PyTorch has builds for CUDA")
def test_the_build_for_cuda_is_announced_before_its_libraries_are_looked_for(tmp_path: Path) -> None:
    wheel(tmp_path, VERSION, "Requires-Dist: nvidia-cublas; platform_system == 'Linux'\n")
    announced = install_from(tmp_path, "--announce")
    assert announced.returncode == 0, announced.stderr
    assert f"only {VERSION} for CUDA: several GB are downloaded now" in announced.stdout
    installed = install_from(tmp_path)
    assert installed.returncode != 0  # the folder has no nvidia-cublas
    assert "nvidia-cublas" in installed.stdout + installed.stderr


@pytest.mark.slow
def test_a_build_for_cpus_is_taken_where_there_is_one(tmp_path: Path) -> None:
    wheel(tmp_path, VERSION, "Requires-Dist: nvidia-cublas; platform_system == 'Linux'\n")
    wheel(tmp_path, f"{VERSION}+cpu")
    announced = install_from(tmp_path, "--announce")
    assert (announced.returncode, announced.stdout) == (0, "")
    done = install_from(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "target" / f"torch-{VERSION}+cpu.dist-info").is_dir()


@pytest.mark.parametrize(("platform", "large"), [("linux", True), ("darwin", False)])
def test_only_on_linux_nvidias_libraries_come_along(platform: str, large: bool) -> None:
    asked = {"requires_dist": ["filelock", 'cuda-bindings>=13; platform_system == "Linux"']}
    assert install_torch.brings_cuda(asked, platform) == large
    assert not install_torch.brings_cuda({"requires_dist": ["filelock"]}, platform)
