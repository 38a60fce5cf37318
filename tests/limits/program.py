"""A planted bottleneck: cells as a student writes them, and what they spend their time on by construction."""

from __future__ import annotations

import functools
import importlib
import os
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Literal

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.extras import installed
from jupyter_mlgpu.record.limit import LimitKind

Framework = Literal["python", "numpy", "tensorflow", "torch", "jax", "mlx", "torch-cuda", "jax-cuda"]
#: What a program is run beside: processes that use every core, or a process that uses the GPU.
Load = Literal["processor", "gpu"]
#: On a machine whose roof was not measured, work on the device may be told as any of these.
ON_DEVICE: tuple[LimitKind, ...] = ("device", "compute", "bandwidth")
COMPUTE: tuple[LimitKind, ...] = ("compute", "device")
BANDWIDTH: tuple[LimitKind, ...] = ("bandwidth", "device")
MODULES = {name: module for module, name in registry.MODULES.items()}


@dataclass(frozen=True)
class Program:
    """One question to the engine.

    `before` are cells of set-up, which are not judged; `code` is. `kinds` are the answers that the
    definitions permit, the precise one first. `mended` is the same program without the bottleneck
    (`mended_before`: what it needs set up): its answer must differ, and be of `mended_kinds` where they are
    given. `why` says why the cause is true by construction, and `clock` how `python -m tests.limits.verify`
    sees it without us:

    * `idle`: the part of the wall time in which the process used no processor;
    * `main`: the part in which the main thread used one, or waited for one that was not free;
    * `delay`: the part in which the main thread could have run, and no core was free (Linux alone);
    * `calls NAME, NAME`: the part spent in these functions, of a cell or of a module; with `()` behind a
      generator's name, in making what it yields;
    * `without NAME, NAME`: the part that is saved where these only give back what they are given;
    * `again`: the part that a second run of the same code saves; `mended`: that the mended code saves.

    `load` runs beside the judged cell, and not beside the mended one. `needs` are further modules.
    """

    id: str
    framework: Framework
    kinds: tuple[LimitKind, ...]
    why: str
    clock: str
    code: str
    before: Sequence[str] = ()
    mended: str | None = None
    mended_before: Sequence[str] = ()
    mended_kinds: tuple[LimitKind, ...] = ()
    load: Load | None = None
    needs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Cells stand indented in their modules."""
        object.__setattr__(self, "code", cell(self.code))
        object.__setattr__(self, "before", tuple(map(cell, self.before)))
        object.__setattr__(self, "mended_before", tuple(map(cell, self.mended_before)))
        if self.mended is not None:
            object.__setattr__(self, "mended", cell(self.mended))

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it needs beside Python's own, by the names under which they are imported."""
        name = self.framework.removesuffix("-cuda")
        own = () if name == "python" else (MODULES.get(name, name),)
        return (*own, *self.needs)

    def why_not_here(self) -> str | None:
        """Why it cannot be run here; None where it can."""
        if missing := [name for name in self.modules if not installed(name)]:
            return f"not run: {', '.join(missing)} is not installed here"
        name = self.framework.removesuffix("-cuda")
        if name != self.framework and not has_cuda(name):
            return f"not run: {name} finds no CUDA GPU here"
        return None


@functools.cache
def has_cuda(framework: str) -> bool:
    """Whether a framework has a CUDA GPU; starts it."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others need the GPU's memory, too
    importlib.import_module(MODULES[framework])
    return registry.backend(framework).find_devices()[-1].kind == "cuda"


def cell(code: str) -> str:
    """The code of a cell, without the indentation of the module that it stands in."""
    return textwrap.dedent(code).strip()


def matching(
    programs: Iterable[Program], only: str | None = None, framework: str | None = None
) -> list[Program]:
    """Those whose id matches a pattern and that are of a framework, in the order of frameworks.

    Without a framework, those for a GPU are left out.
    """
    order: list[str] = list(Framework.__args__)  # type: ignore[attr-defined]
    return sorted(
        (
            program
            for program in programs
            if (only is None or fnmatch(program.id, only))
            and (program.framework == framework if framework else not program.framework.endswith("-cuda"))
        ),
        key=lambda program: order.index(program.framework),
    )
