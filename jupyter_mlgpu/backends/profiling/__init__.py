"""The frameworks' own profilers, on for one cell; imported only when a cell asks for them.

Each steps aside where a profiler of the user's own is on already. Where the cell begins one of its own while
ours is on, ours stops first and says so (docs/adr/0012-operations.md).
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping

from jupyter_mlgpu.ops.profiler import Profiler, Refused

_PROFILERS: Mapping[str, str] = {
    "tensorflow": "jupyter_mlgpu.backends.profiling.tensorflow:TensorFlowProfiler",
    "torch": "jupyter_mlgpu.backends.profiling.torch:TorchProfiler",
    "jax": "jupyter_mlgpu.backends.profiling.jax:JaxProfiler",
}

_NONE: Mapping[str, str] = {
    "mlx": "MLX has no profiler, so there are no times per operation of it: put "
    "`with jupyter_mlgpu.trace(name):` around a part of the cell that ends with mx.eval of its result, "
    "to see what that part takes."
}


def find(framework: str) -> Profiler | Refused:
    """The profiler of a framework that is loaded, or why it has none."""
    if framework not in _PROFILERS:
        return Refused(_NONE.get(framework, f"No profiler of {framework} is known."))
    module, _, attribute = _PROFILERS[framework].partition(":")
    profiler: Profiler = getattr(importlib.import_module(module), attribute)()
    return profiler
