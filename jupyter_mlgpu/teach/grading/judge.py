"""A lab's tests, run in the grader's own process; the student's code is asked from there.

Names in a test are the teacher's if the teacher defined them: imports, constants, functions of given cells.
All other names are the student's: data is copied, a function is called in its own process, and anything else
cannot be judged. If a student's cell changes `print`, `assert`, `submitted` or NumPy, the tests are not
affected.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import linecache
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol

from jupyter_mlgpu.record.errors import GradingError, NotVerifiedError, SandboxError
from jupyter_mlgpu.teach.grading import cells, outputs
from jupyter_mlgpu.teach.grading.cells import TeachersCell

#: Most characters of a result that are shown.
_MOST_SHOWN = 10_000


class Askable(Protocol):
    """Access to the names that a student's cells define: `student.Student`, or a fake."""

    def names(self, wanted: Any) -> dict[str, tuple[str, Any]]:
        """Return the kind and value of each name."""
        ...

    def call(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the plain result of a function, and what it printed."""
        ...


class StudentsFunction:
    """A function of the student's, called with copies of its arguments; its plain result is returned."""

    def __init__(self, student: Askable, name: str) -> None:
        self._student = student
        self.__name__ = name

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        value, printed = self._student.call(self.__name__, arguments, named)
        if printed:
            print(printed, end="")
        return value

    def __repr__(self) -> str:
        return f"<the student's {self.__name__}>"


class _NotPlain:
    """A placeholder for a value that cannot be judged; every use raises GradingError."""

    def __init__(self, name: str, kind: str) -> None:
        object.__setattr__(self, "_told", (name, kind))

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        name, kind = object.__getattribute__(self, "_told")
        raise GradingError(
            f"{name} is a {kind} in the student's code, which a test cannot use: only numbers, texts, "
            "lists, tuples, dicts, sets, arrays of numbers, and functions of them can be judged."
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __bool__ = __len__ = __iter__ = __contains__ = __getitem__ = __call__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __getattr__ = __setattr__ = __hash__ = __int__ = __float__ = __index__ = _refuse


class Judge:
    """Runs given cells and tests in the lab's order, in one namespace of its own.

    `folder` is the lab's own, with the files that its tests read. `seconds` is the time limit of a cell, by
    the clock `now`.
    """

    def __init__(
        self, student: Askable, folder: Path, *, seconds: float, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._student = student
        self._folder = folder
        self._seconds, self._now = seconds, now
        self._namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        self._lent: set[str] = set()

    def give(self, cell: TeachersCell) -> None:
        """Run a given cell that uses nothing of the student's; raises GradingError if it fails."""
        if not cell.alone:
            return
        with self._in_lab_folder():
            try:
                exec(compile(cell.python, f"<{cell.name}>", "exec"), self._namespace)
            except Exception as error:
                if "raises-exception" not in cell.tags:
                    raise GradingError(
                        f"The lab's own cell {cell.name!r} fails where it is graded: "
                        f"{type(error).__name__}: {error}"
                    ) from error

    def test(self, cell: TeachersCell) -> tuple[list[dict[str, Any]], str | None]:
        """Run a test, and return its outputs and the reason if it could not be verified, else None."""
        stdout = io.StringIO()
        test_outputs: list[dict[str, Any]] = []
        unverified = None
        with (
            self._in_lab_folder(),
            contextlib.redirect_stdout(stdout),
            contextlib.redirect_stderr(stdout),
        ):
            try:
                self._lend(cell)
                value = self._run(cell)
                if value is not None:
                    test_outputs.append(_result(value))
            except NotVerifiedError as error:
                unverified = str(error)
                test_outputs.append(outputs.stream(f"Not verified: {error}\n"))
            except BaseException as error:  # also SystemExit and the test's own time limit
                if isinstance(error, KeyboardInterrupt | SandboxError):
                    raise
                test_outputs.append(
                    outputs.failure(type(error).__name__, _message(error), _lines(error, cell))
                )
        printed = outputs.clean([outputs.stream(stdout.getvalue())]) if stdout.getvalue() else []
        return [*printed, *test_outputs], unverified

    def _lend(self, cell: TeachersCell) -> None:
        """Copy the student's current names into the namespace, except names that the lab defines."""
        for name in self._lent:
            self._namespace.pop(name, None)
        try:
            wanted = cells.used_names(cell.python) - set(self._namespace) - set(dir(builtins))
        except SyntaxError as error:
            raise GradingError(f"The test {cell.name!r} is not plain Python: {error}") from error
        lent = self._student.names(wanted) if wanted else {}
        self._lent = set(lent)
        for name, (kind, value) in lent.items():
            if kind == "value":
                self._namespace[name] = value
            elif kind == "function":
                self._namespace[name] = StudentsFunction(self._student, name)
            else:
                self._namespace[name] = _NotPlain(name, value)

    def _run(self, cell: TeachersCell) -> Any:
        """Run a test, and return the value of its last line if that is an expression."""
        file = f"<{cell.name}>"
        source = cell.python
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        tree = ast.parse(source, file)
        last = tree.body[-1] if tree.body else None
        if not isinstance(last, ast.Expr):
            exec(compile(tree, file, "exec"), self._namespace)
            return None
        del tree.body[-1]
        exec(compile(tree, file, "exec"), self._namespace)
        return eval(compile(ast.Expression(last.value), file, "eval"), self._namespace)

    @contextlib.contextmanager
    def _in_lab_folder(self) -> Iterator[None]:
        """Work in the lab's folder, within a cell's time limit."""
        before = Path.cwd()
        os.chdir(self._folder)
        sys.path.insert(0, str(self._folder))
        try:
            with _at_most(self._seconds, self._now):
                yield
        finally:
            sys.path.remove(str(self._folder))
            os.chdir(before)


@contextlib.contextmanager
def _at_most(seconds: float, now: Callable[[], float]) -> Iterator[None]:
    """Raise TimeoutError in the block after some seconds; this works in the main thread only."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    end = now() + seconds

    def late(number: int, frame: FrameType | None) -> None:
        left = end - now()
        if left > 0:  # the clock has stood still
            signal.setitimer(signal.ITIMER_REAL, left)
            return
        raise TimeoutError(f"The test took more than {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _result(value: Any) -> dict[str, Any]:
    """Return an output for the value of a test's last line, which is points if it is a number."""
    text = repr(value)[:_MOST_SHOWN]
    try:
        points = float(text)
    except ValueError:
        points = 0.0
    # nbgrader gives all points for negative values and for what is no number.
    if not 0 <= points < math.inf:
        raise GradingError(f"The test gave {text} points, which is not a number of points.")
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": None,
    }


def _message(error: BaseException) -> str:
    """Return the message of an error; KeyError would quote it, and show its line breaks as escapes."""
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        return error.args[0]
    return str(error)


def _lines(error: BaseException, cell: TeachersCell) -> list[str]:
    """Return a traceback that begins at the test's own line; the frames above are the grader's."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == f"<{cell.name}>"]
    lines = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
    return [outputs.clean([outputs.stream(line)])[0]["text"].rstrip("\n") for line in lines if line]
