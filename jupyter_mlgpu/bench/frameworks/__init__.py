"""The small array programs of the cases, once for each framework: the only place here that imports one."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from jupyter_mlgpu.bench.frameworks.base import Programs

#: Framework -> where its programs are.
PROGRAMS: Mapping[str, str] = {
    "tensorflow": "jupyter_mlgpu.bench.frameworks.tensorflow:TensorFlowPrograms",
    "torch": "jupyter_mlgpu.bench.frameworks.torch:TorchPrograms",
    "jax": "jupyter_mlgpu.bench.frameworks.jax:JaxPrograms",
    "mlx": "jupyter_mlgpu.bench.frameworks.mlx:MlxPrograms",
}


def programs(framework: str) -> Programs:
    """The array programs of a framework."""
    module, _, attribute = PROGRAMS[framework].partition(":")
    made: Programs = getattr(importlib.import_module(module), attribute)()
    return made
