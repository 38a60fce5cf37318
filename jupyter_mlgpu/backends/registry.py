"""Which frameworks this package knows, and which of them the user's program has loaded."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Mapping

from jupyter_mlgpu.backends.base import Backend
from jupyter_mlgpu.errors import DeviceError

#: Framework's module name -> where its backend is. Modules are imported only when asked for.
BACKENDS: Mapping[str, str] = {"tensorflow": "jupyter_mlgpu.backends.tensorflow:TensorFlowBackend"}

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
    begun = [name for name in BACKENDS if name in sys.modules]
    return tuple(one for one in map(backend, begun) if one.loaded())


def import_framework(name: str) -> Backend:
    """Import a framework for a user who asked for its devices; this can take ten seconds.

    Raises DeviceError, with what to install, where it is absent or does not import.
    """
    if importlib.util.find_spec(name) is None:
        raise DeviceError(
            f"{name} is not installed in this kernel's Python, so there is no device to choose; "
            f'run `%pip install "jupyter_mlgpu[{name}]"` and restart the kernel.'
        )
    try:
        importlib.import_module(name)
    except Exception as error:
        raise DeviceError(
            f"{name} is installed but does not import ({type(error).__name__}: {error}); "
            f"run `import {name}` in a cell to see the whole message."
        ) from error
    return backend(name)
