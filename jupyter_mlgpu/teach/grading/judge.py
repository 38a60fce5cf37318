"""A lab's tests, run in the grader's own process: the student's code is somewhere else, and is asked.

A test's names are the teacher's wherever the teacher has given them: imports, constants, functions of given
cells. What is left is the student's: data is fetched and built anew, a function is called where it is,
anything else cannot be judged. Nothing that a student's cell does to `print`, `assert`, `submitted` or NumPy
is done to the tests.
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
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, Protocol

from jupyter_mlgpu.record.errors import GradingError, NotVerifiedError, SandboxError
from jupyter_mlgpu.teach.grading import cells, outputs
from jupyter_mlgpu.teach.grading.cells import TeachersCell

#: Characters of a result that are shown.
_MOST_SHOWN = 10_000


class Askable(Protocol):
    """Who knows what a student's cells have made: `student.Student`, or a fake of it."""

    def names(self, wanted: Any) -> dict[str, tuple[str, Any]]:
        """What each name stands for."""
        ...

    def call(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, str]:
        """The plain result of a function, and what it printed."""
        ...


class StudentsFunction:
    """A function of the student's: it gets copies of its arguments, and its plain result comes back."""

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
    """Stands for what cannot be judged; whatever a test does with it says so."""

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
    """Runs given cells and tests, in the lab's order, in one namespace of its own.

    `folder` is the lab's own: there lie the files that its tests read. `seconds` is the longest that a cell
    may take.
    """

    def __init__(self, student: Askable, folder: Path, *, seconds: float) -> None:
        self._student = student
        self._folder = folder
        self._seconds = seconds
        self._namespace: dict[str, Any] = {"__name__": "__main__", "__builtins__": builtins}
        self._lent: set[str] = set()

    def give(self, cell: TeachersCell) -> None:
        """Run a given cell that needs no student. Raises GradingError where it fails."""
        if not cell.alone:
            return
        with self._at_work():
            try:
                exec(compile(cell.python, f"<{cell.name}>", "exec"), self._namespace)
            except Exception as error:
                if "raises-exception" not in cell.tags:
                    raise GradingError(
                        f"The lab's own cell {cell.name!r} fails where it is graded: "
                        f"{type(error).__name__}: {error}"
                    ) from error

    def test(self, cell: TeachersCell) -> tuple[list[dict[str, Any]], str | None]:
        """A test's outputs, and why it could not be verified, if that is what came out."""
        shown = io.StringIO()
        made: list[dict[str, Any]] = []
        unverified = None
        with self._at_work(), contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            try:
                self._lend(cell)
                value = self._run(cell)
                if value is not None:
                    made.append(_result(value))
            except NotVerifiedError as error:
                unverified = str(error)
                made.append(outputs.stream(f"Not verified: {error}\n"))
            except BaseException as error:  # also SystemExit and a test's own time
                if isinstance(error, KeyboardInterrupt | SandboxError):
                    raise
                made.append(outputs.failure(type(error).__name__, str(error), _lines(error, cell)))
        printed = outputs.cleaned([outputs.stream(shown.getvalue())]) if shown.getvalue() else []
        return [*printed, *made], unverified

    def _lend(self, cell: TeachersCell) -> None:
        """Put the student's names into the namespace, as they are now, where the lab has no such name."""
        for name in self._lent:
            self._namespace.pop(name, None)
        try:
            wanted = cells.needed(cell.python) - set(self._namespace) - set(dir(builtins))
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
        """Run a test; the value of its last line, where that is an expression."""
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
    def _at_work(self) -> Iterator[None]:
        """In the lab's folder, and for no longer than the time that a cell has."""
        before = Path.cwd()
        os.chdir(self._folder)
        sys.path.insert(0, str(self._folder))
        try:
            with _at_most(self._seconds):
                yield
        finally:
            sys.path.remove(str(self._folder))
            os.chdir(before)


@contextlib.contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raises TimeoutError in the block when its time is over; only the first thread can be held so."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def late(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"The test took more than {seconds:g} seconds.")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _result(value: Any) -> dict[str, Any]:
    """The value of a test's last line: points, where it is a number."""
    shown = repr(value)[:_MOST_SHOWN]
    try:
        points = float(shown)
    except ValueError:
        points = 0.0
    # nbgrader gives all points for what is below 0 or no number.
    if not 0 <= points < math.inf:
        raise GradingError(f"The test gave {shown} points, which is not a number of points.")
    return {
        "output_type": "execute_result",
        "data": {"text/plain": shown},
        "metadata": {},
        "execution_count": None,
    }


def _lines(error: BaseException, cell: TeachersCell) -> list[str]:
    """A traceback from the test's own line on: what lies above is ours."""
    frames = [one for one in traceback.extract_tb(error.__traceback__) if one.filename == f"<{cell.name}>"]
    told = [*traceback.format_list(frames), *traceback.format_exception_only(error)]
    return [outputs.cleaned([outputs.stream(line)])[0]["text"].rstrip("\n") for line in told if line]
