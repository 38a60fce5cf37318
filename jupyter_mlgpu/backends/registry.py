"""Which frameworks this package knows, and which of them the user's program has loaded."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping

from jupyter_mlgpu.backends.base import Backend
from jupyter_mlgpu.backends.modules import installed
from jupyter_mlgpu.errors import DeviceError

#: Framework's name -> where its backend is. Modules are imported only when asked for.
BACKENDS: Mapping[str, str] = {
    "tensorflow": "jupyter_mlgpu.backends.tensorflow:TensorFlowBackend",
    "torch": "jupyter_mlgpu.backends.torch:TorchBackend",
    "jax": "jupyter_mlgpu.backends.jax:JaxBackend",
    "mlx": "jupyter_mlgpu.backends.mlx:MlxBackend",
}

#: The module by whose import a framework is there -> the framework. `mlx` itself is an empty folder.
MODULES: Mapping[str, str] = {"mlx.core" if name == "mlx" else name: name for name in BACKENDS}

_made: dict[str, Backend] = {}


def backend(name: str) -> Backend:
    """The backend of a framework, whether or not the framework is loaded."""
    if name not in _made:
        module, _, attribute = BACKENDS[name].partition(":")
        _made[name] = getattr(importlib.import_module(module), attribute)()
    return _made[name]


def loaded() -> tuple[Backend, ...]:
    """The backends whose framework the user's program has imported."""
    # What the user's program has not begun to import needs no backend, whose own import takes a while.
    begun = [name for module, name in MODULES.items() if module in sys.modules]
    return tuple(one for one in map(backend, begun) if one.loaded())


def absent() -> Mapping[str, bool]:
    """The frameworks that the user's program has not imported, and whether they are installed."""
    return {name: installed(module) for module, name in MODULES.items() if module not in sys.modules}


def import_framework(name: str) -> Backend:
    """Import a framework for a user who asked for its devices; this can take ten seconds.

    Raises DeviceError, with what to install, where it is absent or does not import.
    """
    module = next(module for module, framework in MODULES.items() if framework == name)
    if not installed(module):
        raise DeviceError(
            f"{name} is not installed in this kernel's Python, so there is no device to choose; "
            f'run `%pip install "jupyter_mlgpu[{name}]"` and restart the kernel.'
        )
    try:
        importlib.import_module(module)
    except Exception as error:
        raise DeviceError(
            f"{name} is installed but does not import ({type(error).__name__}: {error}); "
            f"run `import {module}` in a cell to see the whole message."
        ) from error
    return backend(name)
