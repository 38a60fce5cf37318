"""Which frameworks this package knows, and which of them the user's program has loaded.

A framework is a folder beside this module, and one line here. One from elsewhere is told by `register`.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from jupyter_mlgpu.measure.frameworks.base import Backend, Framework
from jupyter_mlgpu.record.errors import BenchError, DeviceError
from jupyter_mlgpu.record.extras import install_line, installed
from jupyter_mlgpu.record.sentence import say

if TYPE_CHECKING:
    from jupyter_mlgpu.measure.frameworks.benchmarks import Programs, Training
    from jupyter_mlgpu.measure.ops.profiler import Profiler, Refused


class Registered(NamedTuple):
    """The module by whose import a framework is there, and where its `Framework` is (`module:attribute`)."""

    module: str
    described: str


#: By name. Nothing of a framework is imported before it is asked for.
FRAMEWORKS: dict[str, Registered] = {
    "tensorflow": Registered("tensorflow", "jupyter_mlgpu.measure.frameworks.tensorflow:FRAMEWORK"),
    "torch": Registered("torch", "jupyter_mlgpu.measure.frameworks.torch:FRAMEWORK"),
    "jax": Registered("jax", "jupyter_mlgpu.measure.frameworks.jax:FRAMEWORK"),
    "mlx": Registered("mlx.core", "jupyter_mlgpu.measure.frameworks.mlx:FRAMEWORK"),
}
#: The module by whose import a framework is there -> the framework.
MODULES: dict[str, str] = {known.module: name for name, known in FRAMEWORKS.items()}
#: Those that come with this package.
OWN = tuple(FRAMEWORKS)
#: What is measured where several are installed and none is named: it imports fastest, and its programs are
#: nearest to the hardware's own.
BENCHMARKED_FIRST = "torch"

_backends: dict[str, Backend] = {}


def register(name: str, module: str, described: str) -> None:
    """Make a framework known to this process (see `Registered`); it is there from its next import on.

    Its description and its backend are loaded now: what they raise is raised here, and breaks no cell later.
    """
    if name not in FRAMEWORKS:
        part(part(described).backend)
        FRAMEWORKS[name] = Registered(module, described)
        MODULES[module] = name


def framework(name: str) -> Framework:
    """What is known of a framework; raises KeyError for one that is not registered."""
    described: Framework = part(FRAMEWORKS[name].described)
    return described


#: What stands beside frameworks in versions.
LIBRARIES = {"keras": "Keras", "numpy": "NumPy", "python": "Python"}


def title(name: str) -> str:
    """The name of a framework, or of a library beside it, as its people write it; else its own."""
    return framework(name).title if name in FRAMEWORKS else LIBRARIES.get(name, name)


def part(where: str) -> Any:
    """What stands at `module:attribute`."""
    module, _, attribute = where.partition(":")
    return getattr(importlib.import_module(module), attribute)


def backend(name: str) -> Backend:
    """The backend of a framework, whether or not the framework is loaded."""
    if name not in _backends:
        _backends[name] = part(framework(name).backend)()
    return _backends[name]


def profiler(name: str) -> Profiler | Refused:
    """The profiler of a framework that is loaded, or why it has none.

    It steps aside where a profiler of the user's own is on already. Where the cell begins one of its own
    while ours is on, ours stops first and says so (docs/adr/0012-operations.md).
    """
    from jupyter_mlgpu.measure.ops.profiler import Refused

    known = framework(name) if name in FRAMEWORKS else None
    if known is None or known.profiler is None:
        why = known.why_no_profiler if known is not None else None
        return Refused(why or say("No profiler is known for {name}.", name=name))
    found: Profiler = part(known.profiler)()
    return found


def array_programs(name: str) -> Programs:
    """The array programs of a framework; raises BenchError where it has none."""
    where = framework(name).array_programs
    if where is None:
        raise BenchError(f"{title(name)} has no array programs here, so this case is not measured with it.")
    found: Programs = part(where)()
    return found


def training(name: str) -> Training:
    """How a framework trains models; raises BenchError where it trains none."""
    where = framework(name).training
    if where is None:
        raise BenchError(f"{title(name)} trains no models here, so this case is not measured with it.")
    found: Training = part(where)
    return found


def evaluate(name: str, value: object) -> None:
    """Have `value` worked out, or handed to the device for that, where a framework puts that off.

    Arrays within lists, tuples and dicts count, too; what is no array is left alone.
    """
    where = framework(name).evaluate if name in FRAMEWORKS and value is not None else None
    if where is not None:
        part(where)(value)


def begun() -> list[str]:
    """The frameworks that the user's program has imported, or is importing."""
    return [name for module, name in MODULES.items() if module in sys.modules]


def loaded() -> tuple[Backend, ...]:
    """The backends whose framework the user's program has imported."""
    # What the user's program has not begun to import needs no backend, whose own import takes a while.
    return tuple(one for one in map(backend, begun()) if one.loaded())


def at_hand() -> tuple[Backend, ...]:
    """The same, but only those that somebody has needed before: for who has no time to import one."""
    return tuple(_backends[name] for name in begun() if name in _backends and _backends[name].loaded())


def importable() -> list[str]:
    """The frameworks that are installed, and that the user's program has not imported."""
    return [name for module, name in MODULES.items() if module not in sys.modules and installed(module)]


def too_new_a_python(name: str) -> str:
    """Why a framework's extra brings nothing in this Python; empty where it brings the framework."""
    newest = framework(name).newest_python
    if newest is None or sys.version_info[:2] <= newest:
        return ""
    return say(
        "[{extra}] needs Python {newest} or older, and this is Python {found}",
        extra=name,
        newest=".".join(map(str, newest)),
        found=".".join(map(str, sys.version_info[:2])),
    )


def import_framework(name: str) -> Backend:
    """Import a framework for a user who asked for its devices; this can take ten seconds.

    Raises DeviceError, with what to install, where it is absent or does not import.
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
    return backend(name)
