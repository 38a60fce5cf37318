"""Reported machines as whole facts files, and what must not be advised on them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_mlgpu.explain.doctor import reading
from jupyter_mlgpu.explain.doctor.diagnose import CheckResult, Diagnosis, diagnose
from jupyter_mlgpu.explain.doctor.facts import Facts
from jupyter_mlgpu.show.doctor import page

FACTS = Path(__file__).parents[2] / "data" / "reported" / "facts"


def reported(name: str, **changes: Any) -> Diagnosis:
    return diagnose(reading.from_json(json.loads((FACTS / f"{name}.json").read_text("utf-8")) | changes))


def only(diagnosis: Diagnosis) -> CheckResult:
    (finding,) = diagnosis.findings
    return finding


def package(version: str, *requires: str) -> dict[str, Any]:
    return {"version": version, "requires": list(requires)}


# Another CUDA toolkit on LD_LIBRARY_PATH.


def test_a_toolkit_that_hides_the_wheels_libraries_is_the_first_finding():
    first, *rest = reported("d1a_jax_toolkit").findings
    assert first.id == "cuda-library-path"
    for told in ("libcusparse 12.1.0.106", "12.5.9.5", "libcublas 12.1.3.1", "libnvJitLink 12.1.105"):
        assert told in first.evidence
    assert first.remedy.splitlines()[0] == "unset LD_LIBRARY_PATH"
    assert [one.id for one in rest] == ["gpu-not-seen"]


def test_a_variable_that_the_shell_sets_again_is_to_be_taken_out_of_its_file():
    environment = {name: {"LD_LIBRARY_PATH": "/opt/cuda-12.1/lib64"} for name in ("variables", "shell")}
    first = reported("d1a_jax_toolkit", environment=environment).findings[0]
    assert "~/.bashrc" in first.remedy
    assert "~/.bashrc" not in reported("d1a_jax_toolkit").findings[0].remedy


def test_the_variable_is_not_asked_for_again_where_wheels_bring_the_libraries():
    environment = {"variables": {}, "shell": {"LD_LIBRARY_PATH": "/opt/cuda-12.1/lib64"}}
    libraries = [library("libcublas", "wheel", "12")]
    findings = reported("d1a_jax_toolkit", environment=environment, libraries=libraries).findings
    assert [one.id for one in findings] == ["gpu-not-seen"]


def library(name: str, source: str, version: str) -> dict[str, str]:
    return {"name": name, "source": source, "file": f"{name}.so.12", "version": version}


@pytest.mark.parametrize(
    ("theirs", "found"),
    [
        (library("libcufft", "LD_LIBRARY_PATH", "11.0.2.54"), True),
        (library("libcufft", "LD_LIBRARY_PATH", "11.4.0.6"), False),
        (library("libcufft", "LD_LIBRARY_PATH", "11.9.0.1"), False),
        (library("libcufft", "loader", "11.0.2.54"), False),
        (library("libcufft", "LD_LIBRARY_PATH", "11.0.2.54") | {"file": "libcufft.so.11"}, False),
        (library("libcufft", "LD_LIBRARY_PATH", "12"), False),
        (library("libcupti", "LD_LIBRARY_PATH", "2023.1.1"), False),
    ],
)
def test_only_an_older_library_of_the_same_name_hides_one(theirs: dict[str, str], found: bool):
    wheels = [library("libcufft", "wheel", "12"), library("libcupti", "wheel", "12")]
    findings = reported("d1a_jax_toolkit", libraries=[*wheels, theirs]).findings
    assert ("cuda-library-path" in [one.id for one in findings]) is found


# Exact requirements.


def test_a_pair_that_does_not_belong_together_is_installed_again():
    finding = only(reported("d2b_torchvision_other"))
    assert finding.id == "exact-requirements"
    assert "torchvision 0.21.0 requires torch==2.6.0, but torch 2.8.0 is installed." in finding.evidence
    assert finding.remedy.splitlines()[0] == "pip install --upgrade torch==2.8.0 torchvision"
    assert "pip install torch==2.6.0" in finding.remedy


def packages(**changes: dict[str, Any]) -> Diagnosis:
    kept = json.loads((FACTS / "d2b_torchvision_other.json").read_text("utf-8"))["packages"]
    kept["torchvision"]["requires"] = []
    return reported("d2b_torchvision_other", packages=kept | changes)


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ({"torchaudio": package("2.6.0", "torch==2.6.0")}, True),
        ({"torchaudio": package("2.8.0", "torch==2.8.0")}, False),
        ({"torchaudio": package("2.8.0", "torch===2.8.0")}, False),
        ({"torchaudio": package("2.8.0", "torch==2.*")}, False),
        ({"torchaudio": package("2.8.0", "torch>=2.6.0")}, False),
        ({"torchaudio": package("2.8.0", "torch what is this")}, False),
        ({"mlx": package("0.32.4", "mlx-metal==0.32.4"), "mlx-metal": package("0.30.0")}, True),
        ({"mlx": package("0.32.4", "mlx-metal==0.32.4")}, False),
        ({"keras-hub": package("0.31.0", "keras>=3.13"), "keras": package("3.5.0")}, True),
        ({"keras-hub": package("0.31.0", "keras>=3.13"), "keras": package("3.15.1")}, False),
        ({"jax-mps": package("0.11.1", "jaxlib==0.11.2"), "jaxlib": package("0.10.0")}, True),
        ({"jax-mps": package("0.11.1", "jax<0.12,>=0.11.0"), "jax": package("0.12.0")}, True),
        ({"metaljax": package("0.11.9", "jax<0.12,>=0.11"), "jax": package("0.11.2")}, False),
    ],
)
def test_requirements_are_read_as_pip_reads_them(names: dict[str, dict[str, Any]], found: bool):
    assert ("exact-requirements" in [one.id for one in packages(**names).findings]) is found


def test_a_build_for_cuda_is_of_its_own_version():
    torch = package("2.8.0+cu128")
    assert packages(torch=torch, torchaudio=package("2.8.0+cu128", "torch==2.8.0")).findings == ()


def test_requirements_that_have_a_check_of_their_own_are_told_once():
    names = {
        "jax": package("0.6.2", "jaxlib<=0.6.2,>=0.6.2"),
        "jaxlib": package("0.6.2"),
        "jax-cuda12-plugin": package("0.6.2", "jax-cuda12-pjrt==0.6.2"),
        "jax-cuda12-pjrt": package("0.7.0"),
    }
    assert [one.id for one in packages(**names).findings] == ["jax-plugin-version"]


# Rosetta.


@pytest.mark.parametrize(
    ("installed", "extras"),
    [
        ([], "jupyter_mlgpu"),
        (["torch"], "'jupyter_mlgpu[torch]'"),
        (["jax", "torch"], "'jupyter_mlgpu[jax,torch]'"),
        (["mlx"], "'jupyter_mlgpu[mlx]'"),
        (["tensorflow"], "'jupyter_mlgpu[metal]'"),
    ],
)
def test_under_rosetta_the_extras_of_what_is_installed_are_advised(
    installed: list[str], extras: str, machine: Callable[..., Facts]
):
    intel = {"python/architecture": "x86_64", "python/translated": True, "python/tag": "macosx-11.0-x86_64"}
    facts = machine("mac", intel | {"packages": {name: package("1.0") for name in installed}})
    (finding,) = [one for one in diagnose(facts).findings if one.id == "rosetta-python"]
    assert f"~/mlgpu/bin/pip install {extras}" in finding.remedy.splitlines()


# Memory of Apple's GPU.


def answer(error: str) -> dict[str, Any]:
    return {"torch": {"imported": True, "computed": False, "compute_error": error}}


@pytest.mark.parametrize(
    "error",
    [
        "RuntimeError: MPS backend out of memory (MPS allocated: 5 GB, max allowed: 6 GB).",
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 1 bytes.",
        "RuntimeError: [METAL] Command buffer execution failed: Insufficient Memory (00000008:kIO)",
        "RuntimeError: [metal::malloc] Unable to allocate 100 bytes.",
    ],
)
@pytest.mark.parametrize("name", ["mac", "cuda"])
def test_full_memory_is_no_matter_of_packages(error: str, name: str, machine: Callable[..., Facts]):
    finding = only(diagnose(machine(name, {"frameworks": answer(error)})))
    assert finding.id == "framework-compute"
    assert "memory" in finding.title
    assert "pip check" not in finding.remedy


def test_another_failure_of_the_product_still_asks_pip(machine: Callable[..., Facts]):
    finding = only(diagnose(machine("mac", {"frameworks": answer("RuntimeError: no kernel for this")})))
    assert "pip check" in finding.remedy


@pytest.mark.parametrize(
    ("high", "low", "found"),
    [
        ("0.0", None, "freeze"),
        ("0", "0.0", "freeze"),
        ("0.7", None, "cannot use"),
        ("0.7", "0.5", None),
        ("1.7", None, None),
        ("2.5", None, "cannot use"),
        ("much", None, "cannot use"),
        (None, None, None),
    ],
)
def test_pytorchs_limits_on_a_mac_are_judged(
    high: str | None, low: str | None, found: str | None, machine: Callable[..., Facts]
):
    names = {"PYTORCH_MPS_HIGH_WATERMARK_RATIO": high, "PYTORCH_MPS_LOW_WATERMARK_RATIO": low}
    variables = {name: value for name, value in names.items() if value is not None}
    changes = {"packages/torch": package("2.13.0"), "environment/variables": variables}
    findings = diagnose(machine("mac", changes)).findings
    assert [one.id for one in findings] == (["mps-memory-limit"] if found else [])
    assert not found or found in findings[0].title


def test_a_limit_that_only_a_kernel_has_is_judged_too(machine: Callable[..., Facts]):
    changes = {
        "packages/torch": package("2.13.0"),
        "kernel/specs/0/env": {"PYTORCH_MPS_HIGH_WATERMARK_RATIO": "0.0"},
    }
    assert only(diagnose(machine("mac", changes))).id == "mps-memory-limit"


# What was asked, and what was not.


def test_a_page_that_quotes_a_framework_does_not_say_that_none_was_checked():
    told = page.text(reported("d1a_jax_toolkit"))
    assert "It printed: RuntimeError: Unable to load cuSPARSE" in told
    assert "frameworks and the network were not checked" not in told
    assert "The network was not checked: --deep checks it." in told


def test_a_page_says_which_of_the_two_was_not_asked():
    unasked = {"unknown": "It was not asked.", "asked": False}
    neither = page.text(reported("d2b_torchvision_other", frameworks=unasked))
    assert "The frameworks and the network were not checked" in neither
    no_network = page.html(reported("d2b_torchvision_other"))
    assert "The network was not checked: --deep checks it." in no_network
    answered = page.text(reported("d2b_torchvision_other", frameworks=unasked, network={"pypi.org": True}))
    assert "The frameworks were not checked: --deep checks them" in answered
    all_asked = page.text(reported("d2b_torchvision_other", network={"pypi.org": True}))
    assert "not checked" not in all_asked
