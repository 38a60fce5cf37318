"""Reads environment variables that affect frameworks, loaders and Python: of this process and the shell."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from jupyter_mlgpu.explain.doctor.facts import Environment
from jupyter_mlgpu.explain.doctor.gather.tools import fact, text_of

NAMES = frozenset({
    "CONDA_DEFAULT_ENV", "HF_HOME", "HF_HUB_OFFLINE", "KERAS_BACKEND", "KERAS_HOME",
    "MACOSX_DEPLOYMENT_TARGET", "PYTHONHOME", "PYTHONNOUSERSITE", "PYTHONPATH", "SYSTEM_VERSION_COMPAT",
    "TFDS_DATA_DIR", "VIRTUAL_ENV",
})  # fmt: skip
STARTS = (
    "CUDA_",
    "CUDNN_",
    "DYLD_",
    "JAX_",
    "LD_",
    "METAL_",
    "MKL_",
    "MLX_",
    "MPS_",
    "NCCL_",
    "NUMEXPR_",
    "NVIDIA_",
    "OMP_",
    "OPENBLAS_",
    "PYTORCH_",
    "TF_",
    "TORCH_",
    "VECLIB_",
    "XLA_",
)
# Never read: a cluster's addresses, variables with the name of a secret, and Terraform's variables.
_NEVER = re.compile(r"(?i)TF_(?:CONFIG|CLI_|VAR_)|TOKEN|SECRET|PASSW|CREDENTIAL|_KEY\b|API_?KEY|ADDRESS|HOST")
#: Start files of shells: zsh is the default on macOS, bash on most Linux systems.
START_FILES = (".profile", ".bash_profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc")
_SETS = re.compile(r"^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)=(.*?)\s*$", re.MULTILINE)


def read(home: Path | None = None) -> Environment:
    """Return this process's variables, and those that start files in the home folder set."""
    return Environment(of_interest(os.environ.items()), fact(lambda: shell(home or Path.home())))


def of_interest(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the variables that matter here and are no secrets."""
    return {
        name: value
        for name, value in sorted(variables)
        if (name in NAMES or name.startswith(STARTS)) and not _NEVER.search(name)
    }


def shell(home: Path) -> Mapping[str, str]:
    """Return the variables set by the shell's start files, as written there; the last setting counts."""
    found: dict[str, str] = {}
    for name in START_FILES:
        found |= {one: value.strip("'\"") for one, value in _SETS.findall(text_of(home / name) or "")}
    return of_interest(found.items())
