"""A student's code, run cell by cell in a process that is restarted if it dies.

A new process first runs the earlier cells again.
"""

from __future__ import annotations

import base64
import builtins
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from jupyter_mlgpu.record.errors import CrossingError, GradingError, SandboxError
from jupyter_mlgpu.record.sentence import say
from jupyter_mlgpu.teach.grading import codec, outputs
from jupyter_mlgpu.teach.grading.limits import Limits
from jupyter_mlgpu.teach.grading.process import StudentProcess
from jupyter_mlgpu.teach.grading.sandbox import Sandbox
from jupyter_mlgpu.teach.grading.schedule import Schedule

#: Most starts of a submission's process. After that, nothing more of it is run.
MOST_STARTS = 5
#: Most bytes of the files beside a notebook that its code gets.
_MOST_FILES = 20 * 1024**2


class Student:
    """Runs cells, calls functions and fetches values of one submission.

    `seconds` is the time limit of a question, and `schedule` has that of all questions together.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        *,
        seconds: float,
        limits: Limits | None = None,
        files: Mapping[str, bytes] | None = None,
        schedule: Schedule | None = None,
    ) -> None:
        self._sandbox = sandbox
        self._seconds = seconds
        self._limits = limits or Limits.of_this_machine()
        self._files = dict(files or {})
        self._schedule = schedule or Schedule()
        self._schedule.add(self.paused)
        self._cells: list[str] = []
        self._process: StudentProcess | None = None
        self._starts = 0
        #: Reasons why processes of this submission ended early.
        self.losses: list[str] = []

    def __enter__(self) -> Student:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.end()

    def run(self, code: str) -> list[dict[str, Any]]:
        """Run a cell and return its outputs, without anything that could run in a browser."""
        try:
            answer = self._ask({"do": "run", "code": code})
        except GradingError as error:
            return [outputs.failure("GradingError", str(error))]
        cell_outputs = outputs.clean(answer.get("outputs"))
        process = self._process
        if process is not None:
            # Now, so that no later cell is blamed for the processes of this one.
            process.hold_to_limits(cell_is_over=True)
            if process.why_ended is not None:
                self.losses.append(process.why_ended)
                return [*cell_outputs, outputs.failure("GradingError", process.why_ended)]
        self._cells.append(code)
        return cell_outputs

    def later(self, code: str) -> None:
        """Run a cell before the next question, as if it had been run before."""
        if self._process is None:
            self._cells.append(code)
        else:
            self.run(code)

    def time(self, code: str) -> tuple[float, str | None]:
        """Return the seconds of a cell's code, measured from outside, and an error message if it failed."""
        self._running()
        start = time.perf_counter()
        answer = self._ask({"do": "time", "code": code})
        seconds = time.perf_counter() - start
        failed = answer.get("failed")
        return seconds, None if failed is None else _describe_error(failed)[1]

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Pause everything that the cells have left running."""
        if self._process is None or self._process.ended:
            yield
            return
        try:
            with self._process.paused():
                yield
        except GradingError as error:
            self.losses.append(str(error))
            raise

    def peak(self, code: str) -> tuple[float, str | None]:
        """Return the peak memory in bytes while a cell's code runs, and an error message if it failed."""
        why: list[str | None] = []
        most = self._running().peak(lambda: why.append(self.time(code)[1]))
        return most, why[0]

    def names(self, wanted: Iterable[str]) -> dict[str, tuple[str, Any]]:
        """Return for each name `value` with the value, `function`, or `other` with the name of its class."""
        asked = sorted(wanted)
        answer = self._ask({"do": "names", "names": asked}).get("names")
        found: dict[str, tuple[str, Any]] = {}
        for name in asked:
            entry = answer.get(name) if isinstance(answer, dict) else None
            if not isinstance(entry, list) or not entry:
                continue
            if entry[0] == "value" and len(entry) == 2:
                found[name] = ("value", codec.decode(entry[1]))
            elif entry[0] == "function":
                found[name] = ("function", None)
            else:
                found[name] = ("other", f"{entry[-1]:.60}" if isinstance(entry[-1], str) else "object")
        return found

    def call(self, name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, str]:
        """Return the plain result of a function of the student's, and what it printed.

        If the function raises one of Python's own exceptions, that is raised here.
        """
        functions: list[Callable[..., Any]] = []

        def naming(function: Callable[..., Any]) -> int:
            functions.append(function)
            return len(functions) - 1

        question = {
            "do": "call",
            "name": name,
            "arguments": [codec.encode(one, naming) for one in arguments],
            "named": {key: codec.encode(one, naming) for key, one in named.items()},
        }
        answer = self._ask(question, lambda call: _call_back(functions, call))
        printed = outputs.printed_text(answer.get("outputs"))
        if "raised" in answer:
            kind, message = _describe_error(answer["raised"])
            raise _as_pythons(kind)(message)
        return codec.decode(answer.get("value")), printed

    def _ask(
        self, question: dict[str, Any], call_back: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        process = self._running()
        try:
            return process.ask(question, self._longest(), call_back)
        except GradingError as error:
            self.losses.append(str(error))
            raise

    def _running(self) -> StudentProcess:
        """Return the process, in which all earlier cells have run."""
        if self._process is not None and not self._process.ended:
            return self._process
        if self._starts >= MOST_STARTS:
            raise GradingError(f"Its process ended {self._starts} times; nothing more was run.")
        self.close()
        self._starts += 1
        with self._schedule.starting():
            self._process = process = StudentProcess(self._sandbox, self._limits, self._schedule.now)
        files = {name: base64.b64encode(data).decode() for name, data in self._files.items()}
        try:
            process.begin(files)
        except GradingError as error:
            raise SandboxError(f"{self._sandbox.name} does not start: {error}") from error
        for code in self._cells:
            process.ask({"do": "run", "code": code}, self._longest())
        return process

    def _longest(self) -> float:
        """Return the most seconds of the next question; raises GradingError if the submission's are over."""
        left = self._schedule.left
        if left <= 0:
            raise GradingError(say("The time for the whole submission was over; nothing more was run."))
        return min(self._seconds, left)


def students_for(
    sandbox: Sandbox,
    *,
    seconds: float,
    handed_in: Path,
    lab: Path,
    limits: Limits | None = None,
    schedule: Schedule | None = None,
) -> tuple[Student, Student]:
    """Return a process for the student's cells, and a separate one to measure the lab's own cells.

    The second one gets no submitted file: a student's module named like one of Python's would be student's
    code.
    """
    return (
        Student(sandbox, seconds=seconds, limits=limits, files=files_of(handed_in, lab), schedule=schedule),
        Student(sandbox, seconds=seconds, limits=limits, files=files_of(lab), schedule=schedule),
    )


def files_of(*folders: Path) -> dict[str, bytes]:
    """Return the files beside a lab's notebooks; later folders override earlier ones.

    Only regular files are included, and no notebooks, because a link could lead to the solutions. Raises
    GradingError if they are too large.
    """
    found: dict[str, bytes] = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            inner = path.relative_to(folder)
            above = [folder / part for part in inner.parents]
            if path.suffix == ".ipynb" or any(one.is_symlink() for one in (path, *above)):
                continue
            if stat.S_ISREG(path.lstat().st_mode):
                if path.lstat().st_size + sum(map(len, found.values())) > _MOST_FILES:
                    raise GradingError(
                        f"The files beside the notebook in {folder} take more than "
                        f"{_MOST_FILES / 1e6:.0f} MB; have the lab make its data."
                    )
                found[str(inner)] = path.read_bytes()
    return found


def _call_back(functions: list[Callable[..., Any]], call: dict[str, Any]) -> dict[str, Any]:
    """Call a function of the grader's with data from the student's process."""
    number, arguments, named = call.get("call_back"), call.get("arguments"), call.get("named")
    if not (
        type(number) is int
        and 0 <= number < len(functions)
        and isinstance(arguments, list)
        and isinstance(named, dict)
    ):
        raise CrossingError("It called a function that it was not given.")
    values = [codec.decode(one) for one in arguments]
    others = {str(key): codec.decode(one) for key, one in named.items()}
    try:
        return {"value": codec.encode(functions[number](*values, **others))}
    except Exception as error:  # an argument that the test's function rejects is the caller's error
        return {"failed": f"{type(error).__name__}: {error}"}


def _describe_error(error: Any) -> tuple[str, str]:
    """Return the name of an exception's class, and its message."""
    kind, message, where = (
        (str(error.get(key, ""))[:10_000] if isinstance(error, dict) else "")
        for key in ("kind", "said", "where")
    )
    return kind, f"{message}\n\nIn the student's code:\n{where}" if where else message


def _as_pythons(kind: str) -> type[Exception]:
    """Return Python's own exception of that name, so that a test can expect it.

    Exceptions with a meaning for Python itself are left out: StopIteration would end a test's loop.
    """
    found = getattr(builtins, kind, None)
    if not (isinstance(found, type) and issubclass(found, Exception)) or issubclass(
        found, StopIteration | StopAsyncIteration | UnicodeError | Warning | BaseExceptionGroup
    ):
        return type(kind if kind.isidentifier() else "Exception", (RuntimeError,), {})
    return found
