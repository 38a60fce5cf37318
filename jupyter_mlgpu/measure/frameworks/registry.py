"""The known frameworks, and those that the user's program has imported.

A framework is a folder beside this module, and one line here. Other packages add theirs with `register`.
"""

from __future__ import annotations

import importlib
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_mlgpu.measure.frameworks import imports
from jupyter_mlgpu.measure.frameworks.base import Backend, Framework, UsableMemory
from jupyter_mlgpu.record import extras
from jupyter_mlgpu.record.errors import BenchError, DeviceError
from jupyter_mlgpu.record.extras import install_line, installed
from jupyter_mlgpu.record.sentence import Sentence, say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.frameworks.benchmarks import Programs, Training
    from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused


class Registered(NamedTuple):
    """The module whose import loads a framework, and the address of its `Framework` (`module:attribute`)."""

    module: str
    description: str


#: By name. No part of a framework is imported before it is needed.
FRAMEWORKS: dict[str, Registered] = {
    "tensorflow": Registered("tensorflow", "jupyter_mlgpu.measure.frameworks.tensorflow:FRAMEWORK"),
    "torch": Registered("torch", "jupyter_mlgpu.measure.frameworks.torch:FRAMEWORK"),
    "jax": Registered("jax", "jupyter_mlgpu.measure.frameworks.jax:FRAMEWORK"),
    "mlx": Registered("mlx.core", "jupyter_mlgpu.measure.frameworks.mlx:FRAMEWORK"),
}
#: The framework's name by the module whose import loads it.
MODULES: dict[str, str] = {known.module: name for name, known in FRAMEWORKS.items()}
#: The frameworks of this package.
OWN = tuple(FRAMEWORKS)
#: The framework that is measured if several are installed and none is named: it imports fastest, and its
#: programs are closest to the hardware's speed.
BENCHMARKED_FIRST = "torch"

_backends: dict[str, Backend] = {}
#: The imported frameworks whose version was compared with the oldest one that their backend supports.
_version_checked: set[str] = set()


def register(name: str, module: str, description: str) -> None:
    """Add a framework to this process (see `Registered`); it is known from its next import on.

    Its description and its backend are loaded now. Their errors are raised here, and not later in a cell.
    """
    if name not in FRAMEWORKS:
        part(part(description).backend)
        FRAMEWORKS[name] = Registered(module, description)
        MODULES[module] = name


def framework(name: str) -> Framework:
    """Return the description of a framework; raises KeyError for one that is not registered."""
    description: Framework = part(FRAMEWORKS[name].description)
    return description


#: Titles of what is listed with frameworks among versions.
LIBRARIES = {"keras": "Keras", "numpy": "NumPy", "python": "Python"}


def title(name: str) -> str:
    """Return the title of a framework or of a library listed with it; else the name itself."""
    return framework(name).title if name in FRAMEWORKS else LIBRARIES.get(name, name)


def part(where: str) -> Any:
    """Return the object at `module:attribute`, importing the module."""
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)


def backend(name: str) -> Backend:
    """Return the backend of a framework, loaded or not.

    For a version that is too old for it, this is a backend that says so (`too_old.py`).
    """
    if name not in _backends:
        _backends[name] = part(framework(name).backend)()
    if name not in _version_checked:
        _check_version(name)
    return _backends[name]


def _check_version(name: str) -> None:
    """Replace the backend of a framework that is too old. Does nothing before its version can be read."""
    module = FRAMEWORKS[name].module
    version = imports.version(module)
    if version is None:
        return
    _version_checked.add(name)
    oldest = framework(name).oldest
    if oldest is not None and imports.numbers(version) < imports.numbers(oldest):
        from jupyter_mlgpu.measure.frameworks.too_old import OldBackend

        _backends[name] = OldBackend(framework(name), module, version)


def why_too_old(name: str) -> Sentence | None:
    """Return what to do about a framework's version that is too old for its backend; None if it is not."""
    return getattr(backend(name), "why_too_old", None)


def profiler(name: str) -> Profiler | Refused:
    """Return the profiler of a loaded framework, or the reason why it has none.

    It does not start if the user's own profiler is on. If the cell starts a profiler while ours is on, ours
    stops first and reports it (docs/adr/0012-operations.md).
    """
    from jupyter_mlgpu.measure.ops.profiler import Refused

    known = framework(name) if name in FRAMEWORKS else None
    too_old = None if known is None else why_too_old(name)
    if known is None or known.profiler is None or too_old is not None:
        why = too_old or known.why_no_profiler if known is not None else None
        return Refused(why or say("No profiler is known for {name}.", name=name))
    found: Profiler = part(known.profiler)()
    return found


def array_programs(name: str) -> Programs:
    """Return the array programs of a framework; raises BenchError if it has none."""
    where = framework(name).array_programs
    if where is None:
        raise BenchError(f"{title(name)} has no array programs here, so this case is not measured with it.")
    found: Programs = part(where)()
    return found


def training(name: str) -> Training:
    """Return the training of a framework; raises BenchError if it trains no models."""
    where = framework(name).training
    if where is None:
        raise BenchError(f"{title(name)} trains no models here, so this case is not measured with it.")
    found: Training = part(where)
    return found


def evaluate(name: str, value: object) -> None:
    """Force the evaluation of `value`, or its launch on the device, if the framework is lazy.

    Arrays within lists, tuples and dicts are included. Values that are not arrays are ignored.
    """
    where = framework(name).evaluate if name in FRAMEWORKS and value is not None else None
    if where is not None:
        part(where)(value)


def imported_or_importing() -> list[str]:
    """Return the frameworks that the user's program has imported or is importing."""
    return [name for module, name in MODULES.items() if module in sys.modules]


def usable_memory() -> UsableMemory | None:
    """Return what a Mac's GPU should use at most, by the first framework that reports it, else None."""
    for backend in loaded():
        with suppress(Exception):  # a failing framework must not hide the others
            found = map(backend.usable_memory, backend.devices())
            if (usable := next(filter(None, found), None)) is not None:
                return usable
    return None


def loaded() -> tuple[Backend, ...]:
    """Return the backends of the frameworks that the user's program has imported."""
    # Other frameworks need no backend, whose own import takes a while.
    return tuple(one for one in map(backend, imported_or_importing()) if one.loaded())


def created_backends() -> tuple[Backend, ...]:
    """Return the backends of `loaded` that exist already, without importing any module."""
    names = [name for name in imported_or_importing() if name in _backends]
    return tuple(one for one in map(backend, names) if one.loaded())


def importable() -> list[str]:
    """Return the frameworks that are installed and that the user's program has not imported."""
    return [name for module, name in MODULES.items() if module not in sys.modules and installed(module)]


def too_new_a_python(name: str) -> str:
    """Return why a framework's extra installs nothing for this Python; empty if it installs the framework."""
    return extras.too_new_a_python(name, framework(name).newest_python)


def import_framework(name: str) -> Backend:
    """Import a framework at the request of a user who selects its device; this can take ten seconds.

    Raises DeviceError, with what to install, if it is missing or does not import.
    """
    module = FRAMEWORKS[name].module
    if not installed(module):
        raise DeviceError(
            f"{name} is not installed in this kernel's Python, so there is no device to choose; "
            f"{too_new_a_python(name) or f'run `%{install_line(name)}` and restart the kernel'}."
        )
    try:
        importlib.import_module(module)
    except Exception as error:
        raise DeviceError(
            f"{name} is installed but does not import ({type(error).__name__}: {error}); "
            f"run `import {module}` in a cell to see the whole message."
        ) from error
    if (why := why_too_old(name)) is not None:
        raise DeviceError(why)
    return backend(name)
