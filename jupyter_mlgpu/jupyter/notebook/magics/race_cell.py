"""Makes a notebook cell ready to race: compiled once as IPython would, and run in the user's namespace."""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

from IPython.utils.capture import capture_output

from jupyter_mlgpu.experiment.race.cell import CompiledCell, program
from jupyter_mlgpu.measure.user_objects import is_a, type_name
from jupyter_mlgpu.record.errors import UsageError


class NotebookCell:
    """A `RacingCell` in the notebook's own namespace. It must be run within `guarded`."""

    def __init__(self, shell: Any, body: str, *, setup: str | None, variable: str | None) -> None:
        self._shell = shell
        self._variable = variable
        self._files: set[str] = set()
        self._body = self._compiled(body)
        self._setup = None if setup is None else self._compiled(setup)
        self._racing = False
        self.interrupted = False

    @contextlib.contextmanager
    def guarded(self) -> Iterator[None]:
        """Restore the user's variable and the output streams at the end, whatever happens.

        An interrupt reaches the user's code at once. Between two runs it waits until the next one begins, so
        it never leaves a device scope or a stream half changed.
        """
        space = self._shell.user_ns
        had = self._variable in space
        before = space.get(self._variable)
        outputs = (sys.stdout, sys.stderr, sys.displayhook, self._shell.display_pub)
        handler = self._take_interrupts()
        try:
            yield
        finally:
            if handler is not None:
                signal.signal(signal.SIGINT, handler)
            sys.stdout, sys.stderr, sys.displayhook, self._shell.display_pub = outputs
            if had:
                space[self._variable] = before
            else:
                space.pop(self._variable, None)

    def setup(self) -> None:
        """Run the setup code, which is not timed."""
        if self._setup is not None:
            self._raise_interrupt()
            self._run(self._setup)

    def prepare(self, size: float | None) -> None:
        """Set the size before a run; an interrupt from between two runs ends the race here."""
        self._raise_interrupt()
        if self._variable is not None:
            self._shell.user_ns[self._variable] = size

    def run(self) -> object:
        """Run the cell once and return the value of its last expression."""
        return self._run(self._body)

    def quiet(self) -> AbstractContextManager[object]:
        """Drop a run's output; the output of a run that fails is shown."""
        return _quiet()

    def show_own_traceback(self, error: BaseException) -> None:
        """Make IPython show an exception from the user's code on, without our frames around it."""
        traceback = error.__traceback__
        while traceback is not None and traceback.tb_frame.f_code.co_filename not in self._files:
            traceback = traceback.tb_next
        if traceback is None:
            return
        lines = self._shell.InteractiveTB.structured_traceback(type(error), error, traceback, tb_offset=0)
        with contextlib.suppress(AttributeError):  # some exceptions allow no new attributes
            error._render_traceback_ = lambda: lines  # type: ignore[attr-defined]

    def _raise_interrupt(self) -> None:
        if self.interrupted:
            raise KeyboardInterrupt

    def _run(self, code: CompiledCell) -> object:
        self._racing = True
        try:
            return code.run(self._shell.user_ns)
        finally:
            self._racing = False

    def _compiled(self, source: str) -> CompiledCell:
        transformed = self._shell.transform_cell(source)
        name = self._shell.compile.cache(transformed, self._shell.execution_count, raw_code=source)
        self._files.add(name)
        tree = self._shell.transform_ast(self._shell.compile.ast_parse(transformed, filename=name))
        return program(tree, name, self._shell.compile)

    def _take_interrupts(self) -> Any:
        def interrupt(number: int, frame: Any) -> None:
            if self._racing:
                raise KeyboardInterrupt
            self.interrupted = True

        try:
            return signal.signal(signal.SIGINT, interrupt)
        except ValueError:  # another thread than the main one, which gets no interrupts
            return None


def setup_source(word: str | None, shell: Any) -> str | None:
    """Return the code for `--setup WORD`: of a cell by its number, or in a string variable.

    Raises UsageError for anything else.
    """
    if word is None:
        return None
    if word.isdecimal():
        inputs = shell.history_manager.input_hist_raw
        number = int(word)
        # The last one is the cell that is running.
        if 0 < number < len(inputs) - 1 and inputs[number].strip():
            return str(inputs[number])
        raise UsageError(
            f"--setup {word}: no cell was run as In [{word}] before this one. Give the number next to a "
            "cell, such as 3 for In [3], or the name of a string variable that holds code. Nothing was run."
        )
    value = shell.user_ns.get(word)
    if not is_a(value, str):
        found = (
            f"which is of type {type_name(type(value))}" if word in shell.user_ns else "which is not defined"
        )
        raise UsageError(
            "--setup takes the number of a cell, such as 3 for In [3], or the name of a string variable that "
            f"holds code; found {word!r}, {found}. Nothing was run."
        )
    return value


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    captured = None
    try:
        with capture_output() as captured:
            yield
    except Exception:
        if captured is not None:
            captured.show()  # type: ignore[no-untyped-call]
        raise
