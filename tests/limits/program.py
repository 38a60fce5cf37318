"""The table of programs: `programs/programs.csv` says what limits each, `programs/*_cells.py` has their code.

The columns of the table:

* `framework`: a framework, `python` or `numpy`; one that ends in `-cuda` needs a GPU;
* `right`: the kinds that the definitions permit, the precise one first. Where the machine's roof was not
  measured, work on the device may be told as `device`. An ordinary cell has none: only its profile is known;
* `mended`: the kinds that are right once the bottleneck is gone. The answer must then be another one;
* `clock`: how `python -m tests.limits.verify` sees the cause without us (below);
* `beside`: what runs beside the planted cell, and not beside the mended one: `processor`, processes that use
  every core, or `gpu`, processes that use the GPU;
* `needs`: further modules; `why`: why the cause is true by construction.

The clocks:

* `idle`: the part of the wall time in which the process used no processor;
* `main`: the part in which the main thread used one, or waited for one that was not free;
* `delay`: the part in which the main thread could have run, and no core was free (Linux alone);
* `calls NAME, NAME`: the part spent in these functions, of a cell or of a module; with `()` behind a
  name, in making what that generator yields;
* `without NAME, NAME`: the part that is gone when these functions give back their first argument at once;
* `again`: the part that a second run of the same cell saves;
* `mended`: the part that the mended program saves;
* `profile NAME`: an ordinary cell, which is profiled (`profiling.py`); NAME gets data ready in it.

Cells stand under `# %% PROGRAM: ROLE`, as a student writes them. `before` are cells of set-up, which are not
judged, `asked` is, and `mended` is the same program without the bottleneck, with its own set-up in
`before mended`. A name in capitals before the role is that of a cell of set-up that several programs share.
"""

from __future__ import annotations

import csv
import functools
import importlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, Literal

from jupyter_mlgpu.measure.frameworks import registry
from jupyter_mlgpu.record.extras import installed
from jupyter_mlgpu.record.limit import LimitKind

#: What a program is run beside.
Load = Literal["processor", "gpu"]
FOLDER = Path(__file__).parent / "programs"
MODULES = {name: module for module, name in registry.MODULES.items()}
_MARKER = re.compile(r"^# %% ([\w-]+)(?:: (.+))?\n", re.MULTILINE)


@dataclass(frozen=True)
class Program:
    """A row of the table, with its cells."""

    id: str
    framework: str
    kinds: tuple[LimitKind, ...]
    mended_kinds: tuple[LimitKind, ...]
    clock: str
    load: Load | None
    needs: tuple[str, ...]
    why: str
    before: tuple[str, ...]
    code: str
    mended_before: tuple[str, ...] = ()
    mended: str | None = None

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that it needs beside Python's own, by the names under which they are imported."""
        name = self.framework.removesuffix("-cuda")
        own = () if name == "python" else (MODULES.get(name, name),)
        return (*own, *self.needs)

    def why_not_here(self) -> str | None:
        """Return the reason for which it cannot be run here; None where it can."""
        if missing := [name for name in self.modules if not installed(name)]:
            return f"not run: {', '.join(missing)} is not installed here"
        name = self.framework.removesuffix("-cuda")
        if name != self.framework and not has_cuda(name):
            return f"not run: {name} finds no CUDA GPU here"
        return None


@functools.cache
def has_cuda(framework: str) -> bool:
    """Return True if a framework has a CUDA GPU; starts the framework."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # others need the GPU's memory, too
    importlib.import_module(MODULES[framework])
    return registry.backend(framework).find_devices()[-1].kind == "cuda"


def cells_of(texts: Iterable[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    """Return the cells of each program by their roles."""
    found = [
        (name, (roles or "").split(", "), code.strip())
        for text in texts
        for name, roles, code in zip(*[iter(_MARKER.split(text)[1:])] * 3, strict=True)
    ]
    shared = {name: code for name, _, code in found if name.isupper()}
    cells: dict[str, dict[str, tuple[str, ...]]] = defaultdict(lambda: defaultdict(tuple))
    for name, (*names, role), code in found:
        if not name.isupper():
            before = "before mended" if role.endswith("mended") else "before"
            cells[name][before] += tuple(shared[one] for one in names)
            cells[name][role] += (code,)
    return cells


def _table() -> list[Program]:
    cells = cells_of(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*_cells.py")))
    with (FOLDER / "programs.csv").open(encoding="utf-8", newline="") as file:
        return [_program(row, cells[row["id"]]) for row in csv.DictReader(file)]


def _program(row: dict[str, Any], cells: dict[str, tuple[str, ...]]) -> Program:
    (asked,), (mended,) = cells["asked"], cells["mended"] or (None,)
    return Program(
        id=row["id"],
        framework=row["framework"],
        kinds=tuple(row["right"].split()),
        mended_kinds=tuple(row["mended"].split()),
        clock=row["clock"],
        load=row["beside"] or None,
        needs=tuple(row["needs"].split()),
        why=row["why"],
        before=cells["before"],
        code=asked,
        mended_before=cells["before mended"],
        mended=mended,
    )


#: In the order of the frameworks: each has a kernel of its own.
TABLE = _table()
PROGRAMS = [one for one in TABLE if one.kinds]
ORDINARY = [one for one in TABLE if not one.kinds]


def matching(
    programs: Iterable[Program], only: str | None = None, framework: str | None = None
) -> list[Program]:
    """Return programs whose id matches a pattern, of one framework; those for a GPU only if it is named."""
    return [
        program
        for program in programs
        if (only is None or fnmatch(program.id, only))
        and (program.framework == framework if framework else not program.framework.endswith("-cuda"))
    ]
