"""Run programs under the engine: in a real kernel, or as blocks of a script."""

from __future__ import annotations

import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from tests.limits.cells import Cells
from tests.limits.judge import Answer, Judged
from tests.limits.load import Waited, beside, disturbance
from tests.limits.program import Load, Program
from tests.support.reading import as_read

#: How often a program is run whose cores others had.
TRIES = 3


class ProgramError(Exception):
    """A cell of a program failed, which says nothing about the engine."""


class Runner(Protocol):
    """A process that runs the programs of a framework, one after the other."""

    pid: int

    def run(self, code: str) -> dict[str, Any]:
        """Run a cell and return its record as JSON, sentences as texts; raises ProgramError."""
        ...

    def clear(self) -> None:
        """Forget what the cells have defined."""
        ...


class InKernel:
    """A real kernel with the extension loaded."""

    def __init__(self, folder: Path) -> None:
        # Who runs scripts alone needs no Jupyter.
        from tests.support.kernels import Notebook
        from tests.support.shared_kernels import LOAD, TIDY

        self._notebook = Notebook(folder, {"TF_CPP_MIN_LOG_LEVEL": "3"})
        self._notebook.connect()
        self._notebook.run(LOAD)
        self._tidy = TIDY.format(keep=self._notebook.evaluate("sorted(get_ipython().user_ns)"))
        self.pid: int = self._notebook.evaluate("__import__('os').getpid()")

    def run(self, code: str) -> dict[str, Any]:
        """Run a cell and return what its receipt is made of."""
        result = self._notebook.run(code, timeout=300)
        if result.status != "ok":
            raise ProgramError(f"{result.error}\n{result.text[-2000:]}")
        if len(result.receipts) != 1:
            raise ProgramError(f"The cell has {len(result.receipts)} receipts, not 1: {code}")
        return result.receipt

    def clear(self) -> None:
        """Forget what the cells have defined, and their results."""
        self._notebook.evaluate("None", prepare=f"{self._tidy}\nimport gc as _gc; _gc.collect()")
        self._notebook.broadcasts.clear()

    def close(self) -> None:
        """End the kernel."""
        self._notebook.close()


class InScript:
    """Blocks of `jupyter_mlgpu.trace` in this process, for a machine without Jupyter."""

    def __init__(self) -> None:
        from jupyter_mlgpu.measure.runtime import current

        self._cells = Cells()
        self.pid = os.getpid()
        # As in a notebook, lines are those of cells; else all would be the one below that runs a cell.
        current().of_user = self._cells.of_user

    def run(self, code: str) -> dict[str, Any]:
        """Run the code in a block and return its record."""
        import jupyter_mlgpu

        ready = self._cells.compiled(code)
        try:
            with jupyter_mlgpu.trace("planted") as block:
                self._cells.run(ready)
        except Exception as error:
            raise ProgramError(f"{type(error).__name__}: {error}") from error
        record: dict[str, Any] = as_read(block.to_json())
        return record

    def clear(self) -> None:
        """Forget what the cells have defined."""
        self._cells.clear()
        gc.collect()
        if torch := sys.modules.get("torch"):
            torch.cuda.empty_cache()

    def close(self) -> None:
        """Nothing was started."""


@contextmanager
def runner_for(framework: str, folder: Path, script: bool = False) -> Iterator[Runner]:
    """Start a kernel, or a script for programs on a GPU and where that is asked for."""
    script = script or framework.endswith("-cuda")
    runner: InKernel | InScript = InScript() if script else InKernel(folder)
    try:
        yield runner
    finally:
        runner.close()


def ask(runner: Runner, program: Program, tries: int = TRIES) -> Judged:
    """Run a program and its mended one, again while other programs have the cores; raises ProgramError."""
    judged = _ask(runner, program)
    while judged.disturbed and tries > 1:
        judged, tries = _ask(runner, program), tries - 1
    return judged


def _ask(runner: Runner, program: Program) -> Judged:
    try:
        planted = answered(runner, program.before, program.code, program.load)
        if program.mended is None:
            return Judged(program, planted)
        return Judged(program, planted, answered(runner, program.mended_before, program.mended))
    finally:
        runner.clear()


def answered(runner: Runner, before: Sequence[str], code: str, load: Load | None = None) -> Answer:
    """Run cells of set-up and a cell that is judged, and return the answer on the last."""
    for setup in before:
        runner.run(setup)
    with beside(load):
        waited, begun = Waited.of(runner.pid), time.perf_counter()
        record = runner.run(code)
        seconds = time.perf_counter() - begun
        return Answer.of(record, seconds, disturbance(waited, Waited.of(runner.pid), seconds))


def ask_ordinary(ordinary: Program) -> Answer:
    """Run an ordinary cell in a kernel of its own, and return the answer."""
    with tempfile.TemporaryDirectory() as folder, runner_for(ordinary.framework, Path(folder)) as runner:
        return answered(runner, ordinary.before, ordinary.code)


def ask_all(
    programs: Sequence[Program],
    folder: Path,
    tell: Callable[[Program, Judged | str], None],
    tries: int = TRIES,
    script: bool = False,
) -> list[Judged]:
    """Ask every program, in a kernel for each framework, or in this process as a script.

    `tell` hears each, or why there is no answer: `not run: ...` or `failed: ...`, where a cell of it raised,
    which says nothing about the engine.
    """
    judged: list[Judged] = []
    for framework in dict.fromkeys(program.framework for program in programs):
        mine = [program for program in programs if program.framework == framework]
        here = [program for program in mine if program.why_not_here() is None]
        for program in mine:
            if reason := program.why_not_here():
                tell(program, reason)
        if not here:
            continue
        with runner_for(framework, folder, script) as runner:
            for program in here:
                try:
                    judged.append(ask(runner, program, tries))
                except ProgramError as error:
                    tell(program, f"failed: {error}")
                else:
                    tell(program, judged[-1])
    return judged
