"""Variables that decide what frameworks, loaders and Python find: this process's, and the shell's files'."""

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
# A cluster's addresses, whatever is a secret by its name, and Terraform's variables stay where they are.
_NEVER = re.compile(r"(?i)TF_(?:CONFIG|CLI_|VAR_)|TOKEN|SECRET|PASSW|CREDENTIAL|_KEY\b|API_?KEY|ADDRESS|HOST")
#: What a shell reads at its start; zsh is macOS's own, bash that of most Linux systems.
START_FILES = (".profile", ".bash_profile", ".bashrc", ".zshenv", ".zprofile", ".zshrc")
_SETS = re.compile(r"^\s*(?:export\s+)?([A-Z_][A-Z0-9_]*)=(.*?)\s*$", re.MULTILINE)


def read(home: Path | None = None) -> Environment:
    """This process's variables, and those that start files in the home folder set."""
    return Environment(of_interest(os.environ.items()), fact(lambda: shell(home or Path.home())))


def of_interest(variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Those that decide something here, and are no secret."""
    return {
        name: value
        for name, value in sorted(variables)
        if (name in NAMES or name.startswith(STARTS)) and not _NEVER.search(name)
    }


def shell(home: Path) -> Mapping[str, str]:
    """Variables that the shell's start files set, as they are written there; the last one counts."""
    found: dict[str, str] = {}
    for name in START_FILES:
        found |= {one: value.strip("'\"") for one, value in _SETS.findall(text_of(home / name) or "")}
    return of_interest(found.items())
