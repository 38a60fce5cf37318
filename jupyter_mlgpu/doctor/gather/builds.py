"""What each framework was built for, from files that its wheel brings; nothing is imported.

TensorFlow: tensorflow/python/platform/build_info.py (`cuda_version`, `cudnn_version`, `is_cuda_build`);
PyTorch: torch/version.py (`cuda`); JAX: the name of its plug-in package, jax-cuda12-plugin or
jax-cuda13-plugin.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_mlgpu.doctor.facts import Build
from jupyter_mlgpu.doctor.gather.tools import text_of


def read(path: list[str] | None = None) -> Mapping[str, Build]:
    """Of those frameworks that stand on the path."""
    folders = [Path(entry or ".") for entry in (sys.path if path is None else path)]
    readers = {"tensorflow": _tensorflow, "torch": _torch, "jax": _jax}
    built = {name: next(filter(None, map(reader, folders)), None) for name, reader in readers.items()}
    return {name: build for name, build in built.items() if build is not None}


def _tensorflow(folder: Path) -> Build | None:
    text = text_of(folder / "tensorflow/python/platform/build_info.py")
    if text is None:
        return None
    info = dict(next((one for one in _literals(text) if isinstance(one, list)), []))
    if not info.get("is_cuda_build"):
        return Build(None, None)
    return Build(info.get("cuda_version"), info.get("cudnn_version"))


def _torch(folder: Path) -> Build | None:
    text = text_of(folder / "torch/version.py")
    if text is None:
        return None
    for node in ast.parse(text).body:
        match node:
            case (
                ast.AnnAssign(target=ast.Name("cuda"), value=ast.Constant(version))
                | ast.Assign(targets=[ast.Name("cuda")], value=ast.Constant(version))
            ):
                return Build(None if version is None else str(version), None)
    return Build(None, None)


def _jax(folder: Path) -> Build | None:
    if not (folder / "jax/version.py").exists():
        return None
    cuda = next((number for number in ("13", "12") if (folder / f"jax_cuda{number}_plugin").is_dir()), None)
    return Build(cuda, None)


def _literals(text: str) -> list[Any]:
    """The lists that are arguments of calls: build_info is an OrderedDict([...])."""
    calls = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
    return [ast.literal_eval(one) for call in calls for one in call.args if isinstance(one, ast.List)]
