"""Where a check's rule begins and ends: facts just inside of it and just outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jupyter_mlgpu.explain.doctor.check import Finding, Fine
from jupyter_mlgpu.explain.doctor.checks import system_version_compat
from jupyter_mlgpu.explain.doctor.diagnose import diagnose
from jupyter_mlgpu.explain.doctor.facts import Facts

GIB = 2**30
UNTOLD = {"unknown": "It was not read."}
VISIBLE = "environment/variables/CUDA_VISIBLE_DEVICES"


def package(version: str, **more: Any) -> dict[str, Any]:
    return {"version": version, "tags": UNTOLD, "requires": UNTOLD, **more}


def neighbour(used: int, *, ours: bool = False) -> list[dict[str, Any]]:
    return [{"program": "python3", "used": used, "ours": ours}]


@pytest.mark.parametrize(
    ("name", "changes", "found"),
    [
        # CUDA takes the list up to the first device that is not there.
        ("cuda", {VISIBLE: "0"}, []),
        ("cuda", {VISIBLE: "0,7"}, []),
        ("cuda", {VISIBLE: "7,0"}, ["gpu-hidden"]),
        ("cuda", {VISIBLE: "-1"}, ["gpu-hidden"]),
        ("cuda", {VISIBLE: "GPU-5f1b3d2e"}, []),
        ("cuda", {VISIBLE: "none"}, ["gpu-hidden"]),
        ("cpu", {VISIBLE: ""}, []),
        # A wheel for any Python 3 or several processors fits.
        ("cpu", {"packages/h5py/tags": ["cp38-abi3-manylinux_2_28_x86_64"]}, []),
        ("mac", {"packages/h5py/tags": ["cp312-cp312-macosx_11_0_universal2"]}, []),
        ("cuda", {"packages/numpy/tags": ["cp312-cp312-manylinux2014_aarch64"]}, ["wheel-architecture"]),
        # protobuf's versions, by TensorFlow's.
        ("cpu", {"packages/protobuf/version": "3.20.3"}, []),
        (
            "cpu",
            {"packages/tensorflow/version": "2.20.0", "packages/protobuf/version": "4.25.8"},
            ["protobuf-tensorflow"],
        ),
        ("cpu", {"packages/tensorflow/version": "2.20.0", "packages/protobuf/version": "6.33.5"}, []),
        (
            "cpu",
            {"packages/tensorflow/version": "2.21.0", "packages/protobuf/version": "5.29.6"},
            ["protobuf-tensorflow"],
        ),
        # MLX and its parts.
        ("mac", {"packages/mlx": package("0.31.0")}, []),
        ("cpu", {"packages/mlx": package("0.31.0"), "packages/mlx-cpu": package("0.30.6")}, ["mlx-version"]),
        (
            "cpu",
            {
                "packages/tensorflow/version": "2.7.1",
                "packages/protobuf/version": "4.21.0",
                "packages/numpy/version": "1.22.4",
                "packages/keras/version": "2.7.0",
            },
            ["protobuf-tensorflow"],
        ),
        # Keras by TensorFlow's time.
        ("cpu", {"packages/keras/version": "2.15.0"}, ["keras-tensorflow"]),
        (
            "cpu",
            {"packages/tensorflow/version": "2.15.1", "packages/numpy/version": "1.26.4"},
            ["keras-tensorflow"],
        ),
        ("cpu", {"packages/tf-keras": package("2.19.0")}, []),
        ("cpu", {"packages/tf-keras": package("2.19.2")}, []),
        ("cpu", {"environment/variables/TF_USE_LEGACY_KERAS": "0"}, []),
        ("cpu", {"environment/variables/KERAS_BACKEND": "numpy"}, []),
        ("cpu", {"environment/variables/KERAS_BACKEND": "torch"}, ["keras-backend"]),
        # tensorflow-text and keras-hub.
        ("cpu", {"packages/tensorflow-text": package("2.19.0"), "packages/keras-hub": package("0.31.0")}, []),
        (
            "cpu",
            {"packages/tensorflow-text": package("2.19.0"), "packages/keras-hub": package("0.32.0")},
            ["keras-hub-text"],
        ),
        (
            "cpu",
            {
                "packages/tensorflow/version": "2.21.0",
                "packages/protobuf/version": "6.33.5",
                "packages/tensorflow-text": package("2.21.0"),
            },
            ["tensorflow-text"],
        ),
        # The Metal plug-in and what stands beside it.
        ("mac", {"packages/tensorflow/version": "2.18.1"}, []),
        ("mac", {"packages/tensorflow/version": "2.20.0rc1"}, ["metal-plugin-version"]),
        ("mac", {"packages/tensorflow-metal/version": "1.1.0"}, []),
        ("mac", {"packages/tensorflow-macos": package("2.19.1")}, []),
        ("mac", {"machine/macos": "12.0", "python/macos_seen": "12.0"}, []),
        ("mac", {"machine/macos": "10.15.7", "python/macos_seen": "10.15.7"}, ["metal-macos"]),
        # JAX's parts.
        ("cuda", {"packages/jaxlib/version": "0.11.1"}, ["jaxlib-version"]),
        ("cuda", {"packages/jax-cuda13-plugin/version": "0.11.1"}, ["jax-plugin-version"]),
        ("mac", {"packages/jax": package("0.5.0"), "packages/jax-metal": package("0.1.1")}, []),
        # The driver: a newer one serves older builds, an older minor version is served.
        ("cuda", {"gpus/cuda": "13.2"}, []),
        ("cuda", {"builds/torch/cuda": "12.6", "gpus/cuda": "13.0"}, []),
        ("cuda", {"gpus/found/0/compute_capability": "7.5"}, []),
        ("cuda", {"gpus/found/0/compute_capability": "12.0"}, []),
        ("cuda", {"gpus/found/0/compute_capability": "7.0"}, ["torch-gpu-generation"]),
        # Memory that is ours is not taken by others; a desktop is no neighbour.
        (
            "cuda",
            {"gpus/found/0/memory_free": GIB, "gpus/found/0/processes": neighbour(139 * GIB, ours=True)},
            [],
        ),
        ("cuda", {"gpus/found/0/processes": neighbour(200 * 2**20)}, []),
        (
            "cuda",
            {
                "gpus/found/0/processes": neighbour(20 * GIB),
                "environment/variables/XLA_PYTHON_CLIENT_PREALLOCATE": "false",
            },
            [],
        ),
        ("cpu", {"machine/memory_available": GIB}, []),
        ("cpu", {"machine/memory_limit": 8 * GIB, "machine/memory_limit_used": 7 * GIB}, []),
        ("cpu", {"machine/memory_limit": 8 * GIB, "machine/memory_limit_used": 7 * GIB + 1}, ["memory-low"]),
        # Threads and processors.
        ("cuda", {"environment/variables/OMP_NUM_THREADS": "32"}, []),
        ("cuda", {"machine/cpu_limit": 32.0}, []),
        ("cuda", {"machine/cpu_limit": 8.0, "environment/variables/OMP_NUM_THREADS": "8"}, []),
        ("cuda", {"environment/variables/OMP_NUM_THREADS": "4,2"}, []),
        # Paths, kernels and pages.
        (
            "cuda",
            {
                "environment/shell/LD_LIBRARY_PATH": "/opt/lib",
                "environment/variables/LD_LIBRARY_PATH": "/opt/lib",
            },
            [],
        ),
        (
            "cuda",
            {
                "environment/shell/LD_LIBRARY_PATH": "/opt/lib",
                "kernel/specs/0/env": {"LD_LIBRARY_PATH": "/opt/lib"},
            },
            [],
        ),
        ("mac", {"environment/shell/LD_LIBRARY_PATH": "/opt/lib"}, []),
        ("cpu", {"kernel/specs/0/same": False}, []),
        ("cpu", {"jupyter/disabled": ["@jupyterlab/git"]}, []),
        ("cpu", {"jupyter/disabled": ["jupyter-mlgpu:receipts"]}, ["labextension-off"]),
        ("mac", {"notebooks/0/trusted": False, "notebooks/0/rich": False}, []),
        ("cpu", {"packages/numpy/copies": ["2.1.3"]}, []),
        ("cpu", {"packages/setuptools/copies": ["59.6.0"]}, []),
        ("cpu", {"python/kind": "conda"}, []),
        # Conda brings CUDA into its own folders, where nobody here looks.
        (
            "cuda",
            {
                "packages/tensorflow": package("2.19.1", installer="conda"),
                "builds/tensorflow": {"cuda": "12.5.1", "cudnn": "9"},
            },
            [],
        ),
        # Outside of a container /dev/shm and the driver are the machine's.
        ("cuda", {"storage/shared_memory": 64 * 2**20}, []),
        ("cpu", {"machine/container": True}, []),
        ("cpu", {"gpus/on_bus": ["amd"]}, []),
    ],
)
def test_a_rule_holds_up_to_its_border(
    name: str, changes: dict[str, Any], found: list[str], machine: Callable[..., Facts]
):
    diagnosis = diagnose(machine(name, changes))
    assert [one.id for one in diagnosis.findings] == found
    assert diagnosis.of("crashed") == ()


def test_the_remedy_for_numpy_2_is_a_newer_framework_where_something_needs_numpy_2(
    machine: Callable[..., Facts],
):
    (beside_jax,) = diagnose(machine("cuda", {"packages/torch/version": "2.2.2"})).findings
    (alone,) = diagnose(machine("cpu", {"packages/tensorflow/version": "2.17.1"})).findings
    assert beside_jax.remedy == "pip install --upgrade torch"
    assert alone.remedy == "pip install 'numpy<2'"


def test_a_removed_copy_is_uninstalled_as_often_as_it_is_there(machine: Callable[..., Facts]):
    (finding,) = diagnose(machine("cpu", {"packages/tensorflow/copies": ["2.18.0", "2.17.1"]})).findings
    assert (finding.remedy or "").splitlines() == [
        *["pip uninstall -y tensorflow"] * 3,
        "pip install tensorflow==2.19.1",
    ]


def test_a_count_of_threads_that_is_no_number_is_left_alone(machine: Callable[..., Facts]):
    diagnosis = diagnose(machine("cuda", {"environment/variables/OMP_NUM_THREADS": "²"}))
    assert diagnosis.of("crashed") == ()


def test_a_wrong_product_is_told_beside_the_right_one(machine: Callable[..., Facts]):
    answer = {
        "imported": True,
        "devices": ["cpu"],
        "computed": False,
        "compute_error": None,
        "product": "63.5",
    }
    (finding,) = diagnose(machine("cpu", {"frameworks": {"torch": answer}})).findings
    assert (finding.id, finding.evidence) == ("framework-compute", "A test product gave 63.5 instead of 64.")


@pytest.mark.parametrize(
    ("architecture", "lines"),
    [
        ("arm64", ["SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.19.1 tensorflow-metal==1.2.0"]),
        ("x86_64", ["SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.16.2"]),
        (
            UNTOLD,
            [
                "SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.19.1 tensorflow-metal==1.2.0",
                "# On an Intel Mac: SYSTEM_VERSION_COMPAT=0 pip install tensorflow==2.16.2",
            ],
        ),
    ],
)
def test_a_mac_that_is_told_10_16_gets_a_tensorflow_that_was_built_for_its_python(
    architecture: Any, lines: list[str], machine: Callable[..., Facts]
):
    told = {"python/macos_seen": "10.16", "python/architecture": architecture, "python/pip": "24.0"}
    verdict = system_version_compat.judge(machine("mac", told))
    assert isinstance(verdict, Finding)
    assert list(verdict.remedy.lines) == lines


def test_a_pip_that_asks_macos_itself_rejects_no_wheel(machine: Callable[..., Facts]):
    verdict = system_version_compat.judge(
        machine("mac", {"python/macos_seen": "10.16", "python/pip": "24.1"})
    )
    assert isinstance(verdict, Fine)
    assert "pip 24.1 asks for the real version" in str(verdict.evidence)


def test_without_pip_s_version_it_is_not_sure_that_wheels_are_rejected(machine: Callable[..., Facts]):
    verdict = system_version_compat.judge(
        machine("mac", {"python/macos_seen": "10.16", "python/pip": UNTOLD})
    )
    assert isinstance(verdict, Finding)
    assert verdict.confidence == "likely"
